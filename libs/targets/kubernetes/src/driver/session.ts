import { LRUCache } from 'lru-cache';
import type { DriverHost, TargetHealth } from '@slipway/target-driver';
import { readCluster, type KubeCluster } from '../api/cluster.js';
import { INFERENCE_POOLS, LEADER_WORKER_SETS, type KubeKind } from '../api/kinds.js';
import type { ReflectorClock } from '../api/reflector.js';
import { KubeApi } from '../api/requests.js';
import { LiveUnits, selectorOf } from '../instances/live-units.js';
import { RevisionKeeper } from '../revisions/revision-keeper.js';
import type { KubernetesTargetConfig } from '../target-config.js';
import { namespacesOf, usesGroups } from '../target-config.js';
import { neededRules, type RuleNeeds } from '../health/target-health-rules.js';
import { TargetHealthWatch, type TargetHealthOptions } from '../health/target-health.js';
import { RefusedObjects } from '../health/refused-objects.js';
import { LABEL, targetLabels, type Writer } from '../manifests/unit-labels.js';
import { FormerNamespaces } from './former-namespaces.js';
import { isKeyed } from '../manifests/unit.js';
import { UnitWatch } from '../instances/unit-watch.js';

/** Settings that tests change. */
export interface KubernetesDriverOptions {
  /** Replaces the cluster that the configuration names. */
  cluster?: KubeCluster;
  /** How long a call waits for the first lists before it reports that it cannot observe. */
  syncMs?: number;
  health?: Partial<Pick<TargetHealthOptions, 'roundMs' | 'quietMs' | 'limitMs' | 'repairMs'>>;
  revisions?: { sweepMs?: number; paceMs?: number };
  watch?: Partial<ReflectorClock>;
  /** How long a pod on a lost node counts after its grace period. */
  lostAfterMs?: number;
  /**
   * `abandonedAfterMs`: how long after its grace period a group's pod is deleted if its node does not end it. `lateMs`:
   * how much later than its leader a worker may be created.
   */
  groups?: { abandonedAfterMs?: number; lateMs?: number };
}

const SYNC_MS = 5_000;
const MOST_SECRETS = 10_000;
/** A kubelet that still misses a Secret after this time shows that it was deleted. */
const SECRET_SEEN_MS = 30_000;

/** One opened cluster: our identity, our watches, and whether it answers. */
export interface KubernetesSession {
  api: KubeApi;
  writer: Writer;
  live: LiveUnits;
  watch: UnitWatch;
  /** Namespaces in which units may still exist although the file no longer names them. */
  former: FormerNamespaces;
  health: TargetHealthWatch;
  revisions: RevisionKeeper;
  /** Objects that the API server does not let us write. */
  refused: RefusedObjects;
  /** Namespaces in which a quota has refused a unit. */
  crowded: Set<string>;
  /** Uids of units whose Secret was made or found here a moment ago. */
  secretsMade: LRUCache<string, true>;
  /** By `performance.now()`. */
  openedAt: number;
}

/**
 * Opens the cluster when it is first needed, so a process that only checks specs makes no connection. The next call
 * tries again after a failure, which the health of the target shows meanwhile.
 */
export class KubernetesSessions {
  private opening?: Promise<KubernetesSession>;
  private opened?: KubernetesSession;
  private problem?: { since: string; message: string };
  private isClosed = false;

  constructor(
    private readonly config: () => KubernetesTargetConfig,
    private readonly host: Pick<DriverHost, 'installation'>,
    private readonly options: KubernetesDriverOptions,
    private readonly tell: (instanceId: string) => void,
  ) {}

  /**
   * @throws KubeConfigError if the access to the cluster is invalid
   * @throws Error if there is no installation, or the driver is closed
   */
  async open(): Promise<KubernetesSession> {
    this.opening ??= this.begin();
    try {
      return await this.opening;
    } catch (error) {
      this.opening = undefined;
      const message = error instanceof Error ? error.message : String(error);
      this.problem = { since: this.problem?.since ?? new Date().toISOString(), message };
      throw error;
    }
  }

  /**
   * Resolves when the objects of the namespace are known, or those of any namespace. A namespace that cannot be read
   * does not affect the others.
   * @throws Error while they are not known
   */
  async known(namespace?: string): Promise<KubernetesSession> {
    const session = await this.open();
    const { watch, openedAt, health } = session;
    if (watch.isKnown) return session;
    const { syncMs = SYNC_MS } = this.options;
    await watch.listed(openedAt + syncMs - performance.now());
    const isKnown = () => (namespace === undefined ? watch.knownNamespaces.length > 0 : watch.isKnownIn(namespace));
    if (await watch.listed(syncMs, isKnown)) return session;
    const { state, message } = health.state;
    const why = state === 'degraded' && message !== undefined ? `: ${message}` : '';
    throw new Error(`target "${this.config().name}": the state of its cluster is not known yet${why}`);
  }

  /** Follows a new configuration, if the cluster is open. */
  refresh(): void {
    this.opened?.watch.follow(namespacesOf(this.config()), { groups: usesGroups(this.config()) });
  }

  /**
   * The address of the API server.
   * @throws KubeConfigError if the access to the cluster is invalid
   */
  get server(): string {
    return (this.opened?.api ?? this.options.cluster ?? readCluster(this.config().cluster)).server;
  }

  get health(): TargetHealth {
    if (this.opened) {
      const { health, refused } = this.opened;
      const { message } = refused;
      return { ...health.state, ...(message !== undefined && { refused: message }) };
    }
    if (!this.problem) return { state: 'ok' };
    return { state: 'degraded', message: `${this.problem.message}, since ${this.problem.since}` };
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const session = await this.opening?.catch(() => undefined);
    if (!session) return;
    const { watch, health, revisions, api } = session;
    // Together, because a call that waits for an answer ends only with its connection.
    await Promise.all([watch.close(), health.close(), api.close(), revisions.close()]);
  }

  private async begin(): Promise<KubernetesSession> {
    if (this.isClosed) throw new Error('this driver is closed');
    const config = this.config();
    const installation = await this.host.installation?.();
    if (!installation)
      throw new Error(`target "${config.name}" requires the id of this installation, but the installation has no id`);
    const writer = { installation };
    const shorterPauses = this.options.watch?.shorterRetries;
    const cluster = this.options.cluster ?? readCluster(config.cluster);
    const api = new KubeApi(cluster, shorterPauses === undefined ? {} : { shorterPauses });
    const health = new TargetHealthWatch(api, {
      server: api.server,
      namespaces: () => [...namespacesOf(this.config()), ...(this.opened?.former.used ?? [])],
      rules: () => neededRules(this.needs()),
      kinds: () => kindsOf(this.needs()),
      ...this.options.health,
    });
    const labels = targetLabels(config, writer);
    const labelSelector = selectorOf(labels);
    const { [LABEL.target]: target = '', ...ofInstallation } = labels;
    const watch = new UnitWatch(api, {
      labelSelector: selectorOf(ofInstallation),
      target,
      onTrouble: (_kind, _namespace, error) => health.note(error),
      clock: this.options.watch,
    });
    watch.onChange(this.tell);
    const live = new LiveUnits(api, labels, {
      lostAfterMs: this.options.lostAfterMs,
      abandonedAfterMs: this.options.groups?.abandonedAfterMs,
      hasGroups: () => watch.followsGroups,
    });
    const note = (error: unknown) => health.note(error);
    const refused = new RefusedObjects();
    const revisions = new RevisionKeeper(api, watch, {
      labelSelector,
      writer,
      onTrouble: note,
      refused,
      clock: this.options.watch,
      ...this.options.revisions,
    });
    const former = new FormerNamespaces(watch, () => namespacesOf(this.config()));
    this.opened = {
      api,
      writer,
      live,
      watch,
      former,
      health,
      revisions,
      refused,
      crowded: new Set(),
      secretsMade: new LRUCache({ max: MOST_SECRETS, ttl: SECRET_SEEN_MS }),
      openedAt: performance.now(),
    };
    watch.follow(namespacesOf(this.config()), { groups: usesGroups(this.config()) });
    health.start();
    return this.opened;
  }

  private needs(): RuleNeeds {
    const config = this.config();
    return {
      writesSecrets: config.secrets === 'managed' || Object.values(config.engines).some(isKeyed),
      usesGroups: usesGroups(config),
      usesInferencePools: config.inference_pool !== undefined,
    };
  }
}

function kindsOf(needs: RuleNeeds): KubeKind[] {
  return [...(needs.usesGroups ? [LEADER_WORKER_SETS] : []), ...(needs.usesInferencePools ? [INFERENCE_POOLS] : [])];
}
