import {
  backendContext,
  supplierContext,
  type BackendSleep,
  type BackendRow,
  type PublishedBinding,
} from '@slipway/dataplane';
import type { HoldQueue } from '../holds/hold-queue.js';
import type { GatewaySettings } from '../settings.js';
import type { PublishedCredentials } from './credentials.js';
import { idlest } from './in-flight.js';
import { Instance, type GuardedDispatcher, type BackendInstanceSpec, type InstanceUse } from './instance.js';

/** A session leaves its bound instance at `BUSIER_BY + BUSIER_TIMES * n` requests in flight, if the idlest has n. */
const BUSIER_BY = 8;
const BUSIER_TIMES = 2;
/** Retries may add this share to a backend's requests, and a few at first: in an outage, retrying makes it worse. */
const RETRY_SHARE = 0.3;
const MAX_RETRIES_SAVED = 50;

/** The longest wait of a supplier that is obeyed if no other one can serve. */
const LONGEST_LONE_WAIT_MS = 10_000;

/** The data of a backend, from either table. */
export interface BackendSpec {
  /** Id of the revision, or of an external supplier's binding: the key of its statistics. */
  id: string;
  tenantId: string;
  /** Null for a supplier. */
  revisionName: string | null;
  /** The deployment that it belongs to; null for a supplier. */
  deploymentId: string | null;
  /** Set while it sleeps. */
  asleep: BackendSleep | null;
  modelId: string;
  authorization: string | null;
  guard: BackendRow['guard'];
  instances: BackendInstanceSpec[];
}

/** A request that was sent to a backend and has not ended. */
export interface BackendRequest {
  /** The node of an instance no longer responds. The request may be on that instance or on another one. */
  onInstanceLost(instance: Instance): void;
  /** The instance that it was sent to; undefined between two attempts. */
  readonly instance: Instance | undefined;
  /** Milliseconds since the last byte of that instance. */
  silentMs(now: number): number;
}

/** A revision (or supplier) that can serve requests: its instances and the choice among them. */
export class UpstreamBackend {
  private instances: Instance[] = [];
  /** Those that accept new requests: the ones that serve or, if none does, the reserves. */
  private usable: Instance[] = [];
  private reserves: Instance[] = [];
  /** Instances that were removed while they had requests in flight. */
  private leaving: Instance[] = [];
  private retriesSaved = MAX_RETRIES_SAVED / 5;
  /** Requests from the draw of the revision to their end, including retries. */
  private readonly requests = new Set<BackendRequest>();
  /** Requests that were sent here or waited for this backend, since the start. */
  uses = 0;
  /** Queue of the requests that wait while it sleeps. It exists until those requests have continued. */
  queue: HoldQueue | null = null;
  /** By `performance.now()`. */
  private pausedUntil = 0;
  private refusedUntil = 0;
  private readonly notedFaults = new Set<string>();
  /** Whether its engine rejected the request for usage in streams. Unknown again once its instances change. */
  refusesUsageOption = false;

  constructor(
    public spec: BackendSpec,
    private readonly settings: GatewaySettings,
    private readonly guarded: GuardedDispatcher,
    areNew = false,
  ) {
    this.update(spec, areNew);
  }

  /**
   * Instances that stay keep their connections and their record; removed ones finish their requests.
   * @param areNew whether instances that were unknown have just become usable
   */
  update(spec: BackendSpec, areNew = false): void {
    const isGuardSame = JSON.stringify(spec.guard) === JSON.stringify(this.spec.guard);
    const isSupplier = spec.revisionName === null;
    const guarded: GuardedDispatcher = (allow, options) => this.guarded(allow, { ...options, isSupplier });
    const next = spec.instances.map((published) => {
      const known = this.instances.find(
        (instance) => instance.id === published.id && instance.baseUrl === published.base_url,
      );
      const isKept = known !== undefined && isGuardSame;
      const instance = isKept ? known : new Instance(published, spec.guard, guarded, this.settings, areNew && !known);
      if (isKept) instance.follow(published);
      instance.onEvidence = () => this.weigh();
      return instance;
    });
    const gone = this.instances.filter((instance) => !next.includes(instance));
    for (const instance of gone) instance.close();
    if (gone.length > 0 || next.length > this.instances.length) this.refusesUsageOption = false;
    this.leaving = [...this.stillLeaving(), ...gone.filter(({ inFlight }) => inFlight > 0)];
    this.instances = next;
    this.spec = spec;
    this.notedFaults.clear();
    // The change may be the one that the supplier waits for.
    this.pausedUntil = 0;
    this.refusedUntil = 0;
    // Only after the remaining instances are known.
    this.weigh();
  }

  /**
   * Decides which instances accept requests, from their published states and this gateway's evidence. Many that are
   * doubted at once, or the last ones, are rather a fault of the observer than of all of them.
   */
  private weigh(): void {
    const main = this.instances.filter(({ isEnding }) => !isEnding);
    const serving = main.filter((instance) => instance.useOf(false) === 'serves').length;
    const isMinority = 2 * serving < main.length;
    const of = (use: InstanceUse) => this.instances.filter((instance) => instance.useOf(isMinority) === use);
    const serves = of('serves');
    this.reserves = of('reserve');
    this.usable = serves.length > 0 ? serves : this.reserves;
    for (const instance of [...this.instances, ...this.leaving]) if (instance.isLost) this.lose(instance);
  }

  close(): void {
    for (const instance of this.instances) instance.close();
    this.instances = [];
    this.usable = [];
    this.reserves = [];
  }

  async destroy(): Promise<void> {
    await Promise.all(this.instances.map((instance) => instance.destroy()));
  }

  /** Number of instances that accept new requests. */
  get size(): number {
    return this.usable.length;
  }

  get isServing(): boolean {
    return this.usable.length > 0;
  }

  /**
   * Obeys a supplier that requests a wait. An engine does not speak for the other instances of its revision.
   * @param waitMs undefined if it requests none
   */
  pause(waitMs: number | undefined, now: number): void {
    if (waitMs === undefined || this.spec.revisionName !== null) return;
    this.pausedUntil = Math.max(this.pausedUntil, now + waitMs);
    this.refusedUntil = Math.max(this.refusedUntil, now + Math.min(waitMs, LONGEST_LONE_WAIT_MS));
  }

  /** Whether it requests a wait. Other suppliers get its requests. */
  isPaused(now: number): boolean {
    return this.pausedUntil > now;
  }

  /**
   * Milliseconds until it gets requests again that no other supplier can serve. One client's request may have caused the
   * refusal, and must not stop all others for long.
   */
  refusedMs(now: number): number {
    return Math.max(0, this.refusedUntil - now);
  }

  /** Whether some usable instance is not ejected, and no wait is requested. */
  isWell(now: number): boolean {
    if (this.isPaused(now)) return false;
    return this.usable.some((instance) => !instance.isEjected(now));
  }

  ejectedCount(now: number): number {
    return this.instances.filter((instance) => instance.isEjected(now)).length;
  }

  /**
   * Returns the least loaded instance, those in `tried` last. A retry prefers instances that have not failed. Undefined
   * if none is usable.
   */
  leastLoaded(now: number, tried: readonly Instance[] = []): Instance | undefined {
    const healthy = this.usable.filter((instance) => !instance.isEjected(now));
    const untried = healthy.filter((instance) => !tried.includes(instance));
    // An instance that failed must be tried again some time, but not with a request that has already failed elsewhere.
    const sound = tried.length > 0 ? untried.filter((instance) => !instance.isFailing) : [];
    if (sound.length + untried.length === 0) {
      const reserve = idlest(this.reserves.filter((one) => !one.isEjected(now) && !tried.includes(one)));
      if (reserve) return reserve;
    }
    // If all are ejected, an attempt on one of them is still better than a refusal.
    return idlest([sound, untried, healthy, this.usable].find((choice) => choice.length > 0) ?? []);
  }

  /** Whether an untried instance is ready and has not failed since its last good answer. */
  hasSoundOne(now: number, tried: readonly Instance[]): boolean {
    const isSound = (one: Instance) => !one.isEjected(now) && !one.isFailing && !tried.includes(one);
    return this.usable.some(isSound) || this.reserves.some(isSound);
  }

  /** Whether an untried instance is ready and not ejected. */
  hasOther(now: number, tried: readonly Instance[]): boolean {
    const isOther = (one: Instance) => !one.isEjected(now) && !tried.includes(one);
    return this.usable.some(isOther) || this.reserves.some(isOther);
  }

  /** Returns the bound instance, or why it cannot serve the session any more. */
  bound(instanceId: string, now: number): Instance | 'target_unhealthy' | 'capacity' {
    const instance = this.usable.find((one) => one.id === instanceId);
    if (!instance) return 'target_unhealthy';
    const other = this.leastLoaded(now);
    if (instance.isEjected(now)) return other === instance ? instance : 'target_unhealthy';
    if (other && instance.inFlight >= BUSIER_BY + BUSIER_TIMES * other.inFlight) return 'capacity';
    return instance;
  }

  /** Instances that accept no new requests and have some in flight. */
  private stillLeaving(): readonly Instance[] {
    this.leaving = this.leaving.filter(({ inFlight }) => inFlight > 0);
    return this.leaving;
  }

  /** Requests in flight by instance, including removed ones; instances without any are left out. */
  get inFlightByInstance(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { id, inFlight } of [...this.instances, ...this.stillLeaving()])
      if (inFlight > 0) counts[id] = (counts[id] ?? 0) + inFlight;
    return counts;
  }

  /**
   * Requests in flight without a byte for a while, by instance. Only instances that take no new requests are counted, so
   * a report costs nothing more while none is leaving.
   */
  silentByInstance(now: number): Record<string, number> {
    const leaving = new Set([...this.instances.filter((one) => !this.usable.includes(one)), ...this.stillLeaving()]);
    const counts: Record<string, number> = {};
    if (leaving.size === 0) return counts;
    for (const request of this.requests) {
      const { instance } = request;
      if (!instance || !leaving.has(instance) || request.silentMs(now) < this.settings.silentAfterMs) continue;
      counts[instance.id] = (counts[instance.id] ?? 0) + 1;
    }
    return counts;
  }

  /** Requests in flight, including those between two attempts. */
  get inFlight(): number {
    return this.requests.size;
  }

  enter(request: BackendRequest): void {
    this.uses += 1;
    this.requests.add(request);
    this.retriesSaved = Math.min(MAX_RETRIES_SAVED, this.retriesSaved + RETRY_SHARE);
  }

  leave(request: BackendRequest): void {
    this.requests.delete(request);
  }

  private lose(instance: Instance): void {
    if (instance.inFlight > 0) for (const request of this.requests) request.onInstanceLost(instance);
  }

  /** Whether this is the first such fault since the backend was published. */
  noteFault(fault: string): boolean {
    const isNew = !this.notedFaults.has(fault);
    this.notedFaults.add(fault);
    return isNew;
  }

  takeRetry(): boolean {
    if (this.retriesSaved < 1) return false;
    this.retriesSaved -= 1;
    return true;
  }
}

/**
 * `open` needs the context that a credential is bound to; a credential that was copied from another row does not open.
 */
export type CredentialOpener = Pick<PublishedCredentials, 'open' | 'keyOf'>;

export function specOfRow(row: BackendRow, { open, keyOf }: CredentialOpener): BackendSpec {
  const context = backendContext(row.tenant_id, row.revision_id);
  return {
    id: row.revision_id,
    tenantId: row.tenant_id,
    revisionName: row.revision_name,
    deploymentId: row.deployment_id,
    asleep: row.asleep ?? null,
    modelId: row.model_id,
    authorization: row.credential === null ? null : `Bearer ${open(row.credential, context)}`,
    guard: row.guard,
    instances: row.instances.flatMap((instance) => {
      const key = keyOf(instance);
      return key === undefined ? [] : [{ ...instance, authorization: key && `Bearer ${key}` }];
    }),
  };
}

/** Returns undefined for a binding to a revision: the revision has a backend of its own. */
export function specOfBinding(
  tenantId: string,
  binding: PublishedBinding,
  { open }: CredentialOpener,
): BackendSpec | undefined {
  const { upstream } = binding;
  if (upstream.kind !== 'supplier') return undefined;
  const context = supplierContext(tenantId, binding.binding_id);
  return {
    id: binding.binding_id,
    tenantId,
    revisionName: null,
    deploymentId: null,
    asleep: null,
    modelId: upstream.model,
    authorization: upstream.credential === null ? null : `Bearer ${open(upstream.credential, context)}`,
    guard: upstream.guard,
    instances: [{ id: binding.binding_id, base_url: upstream.base_url, state: 'ready', authorization: null }],
  };
}
