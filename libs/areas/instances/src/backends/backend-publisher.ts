import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import { originsFor, type RevisionSpec } from '@slipway/contracts';
import {
  backendContext,
  openPublished,
  publishBackend,
  readEntries,
  type BackendSleep,
  type PublishedInstance,
  type AddressGuard,
} from '@slipway/dataplane';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, sealSecret, type Tx } from '@slipway/platform-database';
import { tenantName } from '@slipway/platform-http/auth';
import { In, IsNull, MoreThan, Not } from 'typeorm';
import { readSecret, Secrets } from '../access/tenant-access.js';
import { TargetCatalog } from '../catalog/target-catalog.js';
import { doubtOf, InstanceEntity } from '../workloads/instance.entity.js';
import type { WorkloadRow } from '../workloads/instance.query.js';
import { WorkloadScalingEntity } from '../workloads/scaling.entity.js';
import { WorkloadEntity } from '../workloads/workload.entity.js';
import { LOCK_WORKLOAD } from '../workloads/workload.query.js';

/**
 * The longest time that a request waits for a sleeping workload, which is the longest that gateways hold any request.
 */
const LONGEST_HOLD_SECONDS = 290;

/** The parts of a workload that are published to the gateways. */
export type PublishedWorkload = Pick<
  WorkloadRow,
  'revision_id' | 'tenant_id' | 'deployment_id' | 'revision_name' | 'spec'
>;

/**
 * Publishes to the gateways at which addresses the instances of a workload answer, with which credential, and whether
 * the workload sleeps.
 */
@Injectable()
export class BackendPublisher {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'operator' | 'keyRing'>,
    private readonly database: Database,
    private readonly catalog: TargetCatalog,
    private readonly secrets: Secrets,
  ) {}

  /**
   * Publishes a workload again if the gateways have an outdated credential, one that they cannot open, or addresses
   * that differ from what the target now allows. Both sides are read under the lock, so the last to publish has read
   * the newest.
   * @returns whether it published again
   * @throws SecretUnavailable
   * @throws AccessRefused; the next check then withdraws the server from the gateways
   */
  renew(workload: PublishedWorkload): Promise<boolean> {
    const { revision_id, tenant_id, spec } = workload;
    return this.database.tx('system', async (tx) => {
      const locked = await tx.one<{ is_active: boolean }>(LOCK_WORKLOAD, [revision_id]);
      if (!locked?.is_active) return false;
      const { backends } = await readEntries(tx, { routes: [], backends: [revision_id], slugs: [], passports: [] });
      const [published] = backends;
      // No instance is ready. The next one that becomes ready publishes everything.
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

  /** Publishes a workload. The caller has locked it. */
  async publish(tx: Tx, workload: PublishedWorkload): Promise<void> {
    const { revision_id, tenant_id, spec } = workload;
    const tenant = await tenantName(tx, tenant_id);
    const of = { revision_id, tenant_id };
    const rows: ServerRow[] = await tx.repository(InstanceEntity).find({
      select: Object.fromEntries(SERVER_COLUMNS.map((column) => [column, true])),
      where: [
        { ...of, state: In(['ready', 'unhealthy']), base_url: Not(IsNull()) },
        { ...of, ending_url: Not(IsNull()) },
      ],
      order: { ordinal: 'ASC' },
    });
    const ready = rows.filter(({ state }) => state === 'ready');
    const asleep = await sleepOf(tx, workload, ready.length);
    const reference = spec.endpoint?.credential_ref;
    const secrets = this.secrets.readerOf({ tenantId: tenant_id, tenantName: tenant, revisionId: revision_id });
    // Only ready instances need the secret: a missing secret must not prevent the withdrawal of the others.
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
      instances: asleep ? [] : publishedServers(rows, spec.endpoint?.api_path),
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

/** Not all columns: a failure has the last lines of a log. */
const SERVER_COLUMNS = [
  ...(['id', 'state', 'reason', 'doubted', 'ready_since', 'base_url', 'ending_url'] as const),
  ...(['generation', 'key_id'] as const),
];
type ServerRow = Pick<InstanceEntity, (typeof SERVER_COLUMNS)[number]>;

/**
 * The servers of instances that are ready or may still answer. An address of a server that is being ended comes after
 * those of the others.
 */
function publishedServers(rows: readonly ServerRow[], apiPath: string | undefined): PublishedInstance[] {
  const entry = (row: ServerRow, base_url: string, state: PublishedInstance['state']): PublishedInstance => ({
    id: row.id,
    base_url,
    ...(apiPath !== undefined && { api_path: apiPath }),
    state,
    ...(row.key_id !== null && { key: { id: row.key_id, generation: row.generation } }),
  });
  const current = rows.flatMap((row) => {
    if (isEnding(row)) return [];
    const state = row.state === 'ready' ? row.state : doubtOf(row);
    return state === undefined || row.base_url === null ? [] : [entry(row, row.base_url, state)];
  });
  const ending = rows.flatMap((row) =>
    row.ending_url !== null && (isEnding(row) || row.ending_url !== row.base_url)
      ? [entry(row, row.ending_url, 'ending')]
      : [],
  );
  return [...current, ...ending];
}

/** Whether its only address is that of a server that is being ended. A replacement behind a Service has the same one. */
function isEnding({ state, base_url, ending_url }: ServerRow): boolean {
  return state !== 'ready' && ending_url !== null && ending_url === base_url;
}

/**
 * Returns what the gateways must know of a workload's sleep, which ends with the first ready instance. The caller has
 * locked the workload.
 */
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

/** Returns the one secret of all servers of a revision, checked for each of them; undefined without servers. */
function sentToAll(urls: readonly string[], read: (url: string) => string): string | undefined {
  return urls.map(read).at(-1);
}
