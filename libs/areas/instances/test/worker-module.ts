import { Module, type DynamicModule } from '@nestjs/common';
import { ConfigModule, type Config } from '@slipway/platform-config';
import { DatabaseModule } from '@slipway/platform-database';
import { EventFeed } from '@slipway/platform-durable/events';
import { ReadAudit } from '@slipway/platform-durable/mutations';
import { OperationRunner } from '@slipway/platform-durable/operations';
// Not all of `testing`, which needs Jest: a child process loads this file too.
import { neighboursModule } from '@slipway/platform-durable/operations/testing/platform-modules';
import { Schedule } from '@slipway/platform-durable/scheduling';
import { DEPLOYMENTS, type Deployment, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { TARGET_KINDS, type TargetKind } from '@slipway/target-driver';
import { TwinDriver, type TwinCluster } from '@slipway/target-driver/twin';
import { endpointTarget } from '@slipway/target-endpoint';
import { processTarget } from '@slipway/target-process';
import { InstancesModule } from '../src/index.js';
import { INSTANCE_TIMINGS, type InstanceTimings } from '../src/catalog/timings.js';

/** The parts of deployment-records that the tests need: a free lock, and settings of a deployment. */
export class FakeDeployments implements Pick<DeploymentsPort, 'drainSeconds' | 'lockById' | 'scalingOverrides'> {
  drainsFor = 30;
  readonly scaling = new Map<string, NonNullable<Deployment['scaling']>>();
  operation: string | null = null;

  async lockById(_tx: unknown, id: string): Promise<Deployment> {
    return { id, scaling: this.scaling.get(id) ?? null, currentOperationId: this.operation } as Deployment;
  }

  async drainSeconds(): Promise<number> {
    return this.drainsFor;
  }

  async scalingOverrides(): Promise<Map<string, NonNullable<Deployment['scaling']>>> {
    return this.scaling;
  }
}

/** The parts of the area revisions that the tests need: who has retired, and which revisions exist. */
export class FakeRevisions implements Pick<RevisionsPort, 'retired' | 'existing'> {
  readonly retirements: string[] = [];
  /** Revisions that were deleted; all others exist. */
  readonly deleted = new Set<string>();

  async existing(_tx: unknown, ids: readonly string[]): Promise<string[]> {
    return ids.filter((id) => !this.deleted.has(id));
  }

  async retired(_tx: unknown, revisionId: string): Promise<void> {
    this.retirements.push(revisionId);
  }
}

/** A kind of target that runs its servers in a cluster of this process. */
export function twinTarget(cluster: TwinCluster): TargetKind {
  return {
    kind: 'twin',
    schema: { properties: {} },
    read: () => ({}),
    createDriver: ({ name }) => new TwinDriver(name, cluster),
  };
}

/** A process with this area alone. A worker has an operation runner and therefore reconciles; an API has none. */
@Module({})
export class InstancesProcessModule {
  static of(
    config: Config,
    role: 'worker' | 'api',
    timings: InstanceTimings,
    kinds: readonly TargetKind[] = [],
  ): DynamicModule {
    const runner = role === 'worker' ? [{ provide: OperationRunner, useValue: {} }] : [];
    const targets = { provide: TARGET_KINDS, useValue: [processTarget, endpointTarget, ...kinds] };
    const neighbours = [
      { provide: EventFeed, useValue: {} },
      { provide: Schedule, useValue: { register: () => undefined } },
      { provide: DEPLOYMENTS, useClass: FakeDeployments },
      { provide: REVISIONS, useClass: FakeRevisions },
      { provide: ReadAudit, useClass: ReadAudit },
      { provide: INSTANCE_TIMINGS, useValue: timings },
    ];
    return {
      module: InstancesProcessModule,
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule.forRoot(config),
        neighboursModule([...runner, targets, ...neighbours]),
        InstancesModule,
      ],
    };
  }
}
