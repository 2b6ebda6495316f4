import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import { originsFor, type RevisionSpec } from '@slipway/contracts';
import {
  backendContext,
  openPublished,
  publishBackend,
  readEntries,
  type BackendSleep,
  type AddressGuard,
} from '@slipway/dataplane';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, sealSecret, type Tx } from '@slipway/platform-database';
import { tenantName } from '@slipway/platform-http/auth';
import { IsNull, MoreThan, Not } from 'typeorm';
import { readSecret, Secrets } from '../access/tenant-access.js';
import { TargetCatalog } from '../catalog/target-catalog.js';
import { InstanceEntity, LOST_NODE } from '../workloads/instance.entity.js';
import type { WorkloadRow } from '../workloads/instance.query.js';
import { WorkloadScalingEntity } from '../workloads/scaling.entity.js';
import { WorkloadEntity } from '../workloads/workload.entity.js';
import { LOCK_WORKLOAD } from '../workloads/workload.query.js';

/** The longest that a request waits for a sleeper: the longest that gateways keep any. */
const LONGEST_HOLD_SECONDS = 290;

/** What is told of a workload to the gateways. */
export type PublishedWorkload = Pick<
  WorkloadRow,
  'revision_id' | 'tenant_id' | 'deployment_id' | 'revision_name' | 'spec'
>;

/** Publishes to the gateways where the instances of a workload answer, with which credential, and whether the workload sleeps. */
@Injectable()
export class BackendPublisher {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'operator' | 'keyRing'>,
    private readonly database: Database,
    private readonly catalog: TargetCatalog,
    private readonly secrets: Secrets,
  ) {}

  /**
   * Publishes anew where gateways have another credential than the secret says now, one that they cannot open, or other addresses than
   * the target allows now. Both are read under the lock, so the last one to publish has read the newest.
   * @returns whether they had
   * @throws SecretUnavailable; AccessRefused, and the next look takes the server out of sight
   */
  renew(workload: PublishedWorkload): Promise<boolean> {
    const { revision_id, tenant_id, spec } = workload;
    return this.database.tx('system', async (tx) => {
      const locked = await tx.one<{ is_active: boolean }>(LOCK_WORKLOAD, [revision_id]);
      if (!locked?.is_active) return false;
      const { backends } = await readEntries(tx, { routes: [], backends: [revision_id], slugs: [], passports: [] });
      const [published] = backends;
      // No instance is ready: the next one that is brings everything along.
      if (!published?.instances.some(({ state }) => state === 'ready')) return false;
      const tenant = await tenantName(tx, tenant_id);
      const reference = spec.endpoint?.credential_ref;
      const urls = published.instances.map(({ base_url }) => base_url);
      const secret =
        reference === undefined
          ? undefined
          : sentToAll(urls, (url) => readSecret(this.config.operator, tenant, reference, url));
      const isSameSecret = secret === undefined || this.openCredential(workload, published.credential ?? '') === secret;
      if (isSameSecret && isDeepStrictEqual(published.guard, this.guardOf(spec, tenant))) return false;
      await this.publish(tx, workload);
      return true;
    });
  }

  private openCredential({ tenant_id, revision_id }: PublishedWorkload, sealed: string): string | undefined {
    try {
      return openPublished(this.config.keyRing, sealed, backendContext(tenant_id, revision_id));
    } catch {
      return undefined;
    }
  }

  /** Its workload is locked. */
  async publish(tx: Tx, workload: PublishedWorkload): Promise<void> {
    const { revision_id, tenant_id, spec } = workload;
    const tenant = await tenantName(tx, tenant_id);
    const of = { revision_id, tenant_id, base_url: Not(IsNull()) };
    const seen = await tx.repository(InstanceEntity).find({
      select: { id: true, state: true, base_url: true, generation: true, key_id: true },
      where: [
        { ...of, state: 'ready' },
        { ...of, ...LOST_NODE },
      ],
      order: { ordinal: 'ASC' },
    });
    const ready = seen.filter(({ state }) => state === 'ready');
    const asleep = await sleepOf(tx, workload, ready.length);
    const reference = spec.endpoint?.credential_ref;
    const secrets = this.secrets.readerOf({ tenantId: tenant_id, tenantName: tenant, revisionId: revision_id });
    // Leaving the gateways' sight must not fail for a secret that is gone.
    const secret =
      reference === undefined
        ? undefined
        : sentToAll(
            ready.map(({ base_url }) => base_url as string),
            (url) => secrets.value(reference, url),
          );
    const credential =
      secret === undefined ? null : sealSecret(this.config.keyRing, secret, backendContext(tenant_id, revision_id));
    await publishBackend(tx, {
      revisionId: workload.revision_id,
      revisionName: workload.revision_name,
      tenantId: workload.tenant_id,
      deploymentId: workload.deployment_id,
      modelId: spec.model.id,
      instances: (asleep ? [] : seen).map(({ id, state, base_url, generation, key_id }) => ({
        id,
        base_url: base_url as string,
        state: state === 'ready' ? state : 'lost',
        ...(key_id !== null && { key: { id: key_id, generation } }),
      })),
      credential,
      guard: this.guardOf(spec, tenant),
      asleep,
    });
  }

  private guardOf({ runtime }: RevisionSpec, tenant: string): AddressGuard {
    const { allow } = this.catalog.find(runtime.target)?.config ?? {};
    return allow ? { allow: originsFor(allow, tenant) } : null;
  }
}

/** Under the lock of its workload: what gateways are told of its sleep, which ends with the first instance that is ready. */
async function sleepOf(
  tx: Tx,
  workload: Pick<WorkloadRow, 'revision_id' | 'tenant_id'>,
  ready: number,
): Promise<BackendSleep | null> {
  const { revision_id, tenant_id } = workload;
  const where = { revision_id, tenant_id };
  const sleep = await tx.repository(WorkloadScalingEntity).findOneBy({ ...where, asleep_since: Not(IsNull()) });
  if (!sleep) return null;
  if (ready > 0 && (await tx.repository(WorkloadEntity).existsBy({ ...where, replicas: MoreThan(0) }))) {
    const awake = { asleep_since: null, failures: 0, failed_at: null, failure: null };
    await tx.repository(WorkloadScalingEntity).update(where, awake);
    return null;
  }
  const { failures, failure } = sleep;
  return {
    max_seconds: LONGEST_HOLD_SECONDS,
    estimated_seconds: null,
    since: (sleep.asleep_since as Date).toISOString(),
    failures,
    failure,
  };
}

/** The one secret of all servers of a revision, judged for each that gets it; undefined where none does. */
function sentToAll(urls: readonly string[], read: (url: string) => string): string | undefined {
  return urls.map(read).at(-1);
}
