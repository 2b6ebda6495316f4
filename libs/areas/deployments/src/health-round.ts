import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { Sweeper, type DueWork } from '@slipway/platform-operations';
import { INSTANCES, ROUTES, type DeploymentState, type InstancesPort, type RoutesPort } from '@slipway/ports';
import { conditionsOf, observedState, sameConditions, type Condition } from './conditions.js';
import { healthOf } from './deployment-answers.js';
import { LIVING_AFTER, OBSERVE } from './deployment.query.js';

/** How many deployments one sweep looks at; the next goes on where it ended. */
const AT_ONCE = 25;

interface Living {
  id: string;
  version: number;
  state: DeploymentState;
  conditions: Condition[];
  currentOperationId: string | null;
}

/**
 * Goes round all living deployments, a few at a time, and writes what it sees of their health where that has changed: an
 * answer shows health as it is at that moment, this keeps since when. It writes nothing while nothing changes.
 */
@Injectable()
export class HealthRound implements DueWork, OnModuleInit {
  readonly name = 'deployment-health';
  private after = '';

  constructor(
    private readonly sweeper: Sweeper,
    @Inject(ROUTES) private readonly routes: RoutesPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
  ) {}

  onModuleInit(): void {
    this.sweeper.register(this);
  }

  async sweep(tx: Tx): Promise<void> {
    const rows = await tx.query<Living>(LIVING_AFTER, [this.after, AT_ONCE]);
    this.after = rows.length < AT_ONCE ? '' : (rows[rows.length - 1] as Living).id;
    await Promise.all(rows.map((row) => this.observe(tx, row)));
  }

  private async observe(tx: Tx, row: Living): Promise<void> {
    const health = await healthOf(tx, this.instances, await this.routes.current(tx, row.id));
    const state = observedState(row.state, health);
    const conditions = conditionsOf(
      row.conditions,
      { state, currentOperationId: row.currentOperationId, health },
      new Date(),
    );
    if (state === row.state && sameConditions(row.conditions, conditions)) return;
    await tx.query(OBSERVE, [row.id, row.version, state, JSON.stringify(conditions)]);
  }
}
