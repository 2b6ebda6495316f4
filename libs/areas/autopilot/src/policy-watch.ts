import { Inject, Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { Subscription, type EventSubscriber, type ReceivedEvent } from '@slipway/platform-durable/events';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { POLICIES, type PoliciesPort } from '@slipway/ports/policies';
import { ScheduleStore } from './rounds/schedule.store.js';

/** Learns from stored events which deployments have a policy now, and so are to be looked at. */
@Injectable()
@Subscription({ name: 'autopilot', types: ['policy.updated'] })
export class PolicyWatch implements EventSubscriber {
  constructor(
    private readonly schedules: ScheduleStore,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(POLICIES) private readonly policies: PoliciesPort,
  ) {}

  /** The policy that is in force now decides, not the one that the event tells of: a later one may be told first. */
  async receive(tx: Tx, event: ReceivedEvent): Promise<void> {
    const deploymentId = event.stream.split('/')[1] as string;
    const deployment = await this.deployments.lockById(tx, deploymentId);
    const policy = await this.policies.current(tx, deploymentId);
    const { tenantId } = event;
    if (!deployment || !policy || policy.content.mode === 'off')
      return this.schedules.unwatch(tx, { tenantId, deploymentId });
    await this.schedules.watch(tx, { tenantId, deploymentId, deploymentName: deployment.name });
  }
}
