import type { RevisionSpec } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { inFlight } from '@slipway/dataplane';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, type Tx } from '@slipway/platform-database';
import { operationFailures, StepFailed } from '@slipway/platform-operations';
import {
  instanceFailures,
  type Holder,
  type InstancesPort,
  type SpecIssue,
  type Workload,
  type WorkloadStatus,
} from '@slipway/ports/instances';
import { In } from 'typeorm';
import { InstanceEntity } from './instance.entity.js';
import { placeholderSecrets, toInstanceSpec } from './instance-spec.js';
import { readSecret, unknownSecrets } from './secrets.js';
import { TargetCatalog, type Target } from './target-catalog.js';
import { WorkloadEntity, WorkloadHoldEntity } from './workload.entity.js';
import {
  ACTIVATE,
  HOLD,
  LOCK_CAPACITY,
  LOCK_WORKLOAD,
  PLACES_TAKEN,
  RELEASE,
  STATUS,
  WAIT,
  WARM_ONLY,
} from './workload.query.js';

/** The port of this area: writes what should run and tells what does. Nothing here starts or stops anything. */
@Injectable()
export class InstancesService implements InstancesPort {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'operator'>,
    private readonly database: Database,
    private readonly catalog: TargetCatalog,
  ) {}

  check(_tenantId: string, spec: RevisionSpec): SpecIssue[] {
    const target = this.catalog.find(spec.runtime.target);
    if (!target) {
      const known =
        this.catalog
          .all()
          .map(({ config }) => config.name)
          .join(', ') || 'none';
      return [
        { field: 'runtime.target', code: 'unknown', message: `no execution target has this name; there are: ${known}` },
      ];
    }
    const issues: SpecIssue[] = target.driver.check(
      toInstanceSpec(spec, { id: 'check', generation: 1 }, placeholderSecrets),
    );
    const { max_instances: max } = target.config;
    if (max !== undefined && replicasOn(target, spec) > max) {
      issues.push({
        field: 'scaling.min_replicas',
        code: 'not_allowed',
        message: `target "${target.config.name}" runs at most ${max} instances`,
      });
    }
    return [...issues, ...unknownSecrets(spec, this.config.operator.secrets)];
  }

  async want(tx: Tx, workload: Workload, holder: Holder): Promise<void> {
    if (tx.tenantId !== null)
      throw new Error('places of a target are counted over all tenants: want() needs a system transaction');
    const { revisionId, revisionName, tenantId, deploymentId, spec } = workload;
    const target = this.catalog.find(spec.runtime.target);
    if (!target)
      throw new StepFailed(
        operationFailures.validation_failed,
        `no execution target is named "${spec.runtime.target}"`,
        { retryable: false },
      );
    await tx.query(LOCK_CAPACITY, [target.config.name]);
    const replicas = replicasOn(target, spec);
    const standing = await tx.one<{ is_active: boolean; is_held: boolean }>(LOCK_WORKLOAD, [revisionId]);
    const isWanted = standing?.is_active && standing.is_held;
    if (!isWanted) await this.makeRoom(tx, target, revisionId, replicas);
    await tx.query(ACTIVATE, [
      revisionId,
      tenantId,
      deploymentId,
      revisionName,
      target.config.name,
      replicas,
      JSON.stringify(spec),
    ]);
    await this.hold(tx, revisionId, holder);
  }

  async hold(tx: Tx, revisionId: string, holder: Holder, forSeconds?: number): Promise<void> {
    await tx.query(HOLD, [revisionId, holder, forSeconds ?? null]);
  }

  async release(tx: Tx, revisionId: string, holder: Holder): Promise<void> {
    await tx.query(RELEASE, [revisionId, holder]);
  }

  status(tx: Tx, revisionId: string): Promise<WorkloadStatus | undefined> {
    return tx.one<WorkloadStatus>(STATUS, [revisionId]);
  }

  async wakeOnChange(tx: Tx, revisionId: string, operationId: string): Promise<void> {
    await tx.query(WAIT, [revisionId, operationId]);
  }

  async probe(revisionId: string): Promise<{ answered: number; asked: number }> {
    const [workload, ready] = await this.database.tx('system', (tx) =>
      Promise.all([
        tx.repository(WorkloadEntity).findOneBy({ revision_id: revisionId }),
        tx.repository(InstanceEntity).findBy({ revision_id: revisionId, state: 'ready' }),
      ]),
    );
    if (!workload) return { answered: 0, asked: 0 };
    const answers = await Promise.all(ready.map((instance) => this.answers(workload, instance)));
    return { answered: answers.filter(Boolean).length, asked: ready.length };
  }

  inFlight(tx: Tx, revisionId: string): Promise<number> {
    return inFlight(tx, revisionId);
  }

  /** Takes the warmth of others away, the longest first, until there is room, or refuses: the caller's transaction then undoes it. */
  private async makeRoom(tx: Tx, target: Target, revisionId: string, replicas: number): Promise<void> {
    const { name, max_instances: max } = target.config;
    if (max === undefined) return;
    const taken = (await tx.one<{ taken: number }>(PLACES_TAKEN, [[name], revisionId]))?.taken ?? 0;
    let missing = taken + replicas - max;
    if (missing <= 0) return;
    const evicted: string[] = [];
    for (const warm of await tx.query<{ revision_id: string; replicas: number }>(WARM_ONLY, [name, revisionId])) {
      if (missing <= 0) break;
      evicted.push(warm.revision_id);
      missing -= warm.replicas;
    }
    if (missing > 0) {
      throw new StepFailed(
        instanceFailures.capacity_exhausted,
        `target "${name}" has no place for ${replicas} more: ${taken} of ${max} are taken by what routes or operations need`,
        { retryable: true },
      );
    }
    await tx.repository(WorkloadHoldEntity).delete({ revision_id: In(evicted), holder: 'warm' });
  }

  /** Beside the looks of the reconciler, and without a say in its counts. Never throws. */
  private async answers({ target, spec }: WorkloadEntity, instance: InstanceEntity): Promise<boolean> {
    const { id, generation, base_url: baseUrl } = instance;
    const driver = this.catalog.find(target)?.driver;
    if (!driver || baseUrl === null) return false;
    try {
      const secrets = driver.adopts ? (name: string) => readSecret(this.config.operator, name) : placeholderSecrets;
      return await driver.answers(toInstanceSpec(spec, { id, generation }, secrets), baseUrl);
    } catch {
      return false;
    }
  }
}

/** An adopted server is one instance, however often it is wanted. */
function replicasOn(target: Target, spec: RevisionSpec): number {
  return target.driver.adopts ? 1 : Math.max(1, spec.scaling?.min_replicas ?? 1);
}
