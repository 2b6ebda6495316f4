import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Schedule, type RecurringWork, type Transact } from '@slipway/platform-scheduling';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { FORGOTTEN_HOLDS } from './route.query.js';
import { RouteStore } from './route.store.js';

/** Lets requests go on that an operation holds which is over or lost. Its own end does so too; this needs nobody's end. */
@Injectable()
export class ForgottenHolds implements RecurringWork, OnModuleInit {
  readonly name = 'route-holds';
  readonly everySeconds = 5;

  constructor(
    private readonly schedule: Schedule,
    private readonly store: RouteStore,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
  ) {}

  onModuleInit(): void {
    this.schedule.register(this);
  }

  async run(transact: Transact): Promise<void> {
    const forgotten = await transact('system', (tx) => tx.query<{ deploymentId: string }>(FORGOTTEN_HOLDS));
    for (const { deploymentId } of forgotten) {
      await transact('system', async (tx) => {
        await this.deployments.lockById(tx, deploymentId);
        // An operation may have taken the traffic since.
        const isForgotten = (await tx.query<{ deploymentId: string }>(FORGOTTEN_HOLDS)).some(
          (one) => one.deploymentId === deploymentId,
        );
        if (isForgotten) await this.store.endHold(tx, deploymentId);
      });
    }
  }
}
