import type { PromisedTraits, RevisionSpec, StartFailure, StartProgress } from '@slipway/contracts';
import type { Reads, Tx } from '@slipway/platform-database';
import type { StartingInstances } from './starting-instances.js';

export { instanceFailures } from './instance.failures.js';
export {
  assertMayBecomeReady,
  lateFailure,
  progressText,
  waitMessage,
  type StartingInstances,
} from './starting-instances.js';

export const INSTANCES = Symbol('InstancesPort');

/**
 * Why a revision's instances run: somebody holds them. `route` while a route names the revision, `operation:<id>` while
 * an operation works on it, `warm` until a time. Without an unexpired hold the reconciler stops them.
 */
export type Holder = 'route' | 'warm' | `operation:${string}` | `binding:${string}`;

export interface Workload {
  tenantId: string;
  deploymentId: string;
  revisionId: string;
  /** Gateways and events show it. */
  revisionName: string;
  spec: RevisionSpec;
  takesOver?: TakeOver;
}

/** Whose traffic a revision takes over: it begins with as many instances as they have, as far as its scaling and the room allow. */
export interface TakeOver {
  revisionIds: readonly string[];
  /** They are stopped before it starts, and leave it their room. */
  areStopped: boolean;
}

/** The revision need not exist yet. */
export interface RoomAsked extends Pick<Workload, 'tenantId' | 'deploymentId' | 'spec' | 'takesOver'> {
  revisionId?: string;
}

export interface SpecIssue {
  /** Path within the revision's spec, such as `runtime.args.ttft_ms`. */
  field: string;
  code: string;
  message: string;
}

/**
 * Room for one more revision's instances. What is only kept warm counts as free. `needed` > `total` - `own`: this deployment itself holds
 * what is missing, or the target does not have it; else room that others hold is waited for.
 */
export interface Room {
  target: string;
  /** The scarcer of the two. */
  resource: 'place' | 'device';
  /** Instances that it begins with. */
  replicas: number;
  needed: number;
  /** Null: without a limit, or nobody knows. */
  total: number | null;
  /** Null: nobody knows, and nothing is refused for it. */
  free: number | null;
  /** Held by routes and operations of this deployment's other revisions. */
  own: number;
  /** Instances of the tenant's workloads that run or may run, on whichever targets, quickly counted: never less than `needed` says. */
  wanted: number;
}

/** `asked`: no worker has looked yet. */
export interface Preparation {
  state: 'asked' | 'running' | 'ready' | 'failed';
  progress: StartProgress | null;
  failure: StartFailure | null;
}

export interface WorkloadStatus extends StartingInstances {
  /** Instances that are not known to have stopped; 0 = its processes are gone. */
  alive: number;
  baseUrls: string[];
  /** Its instances were taken away because nobody asked for it, and the next request brings one back. */
  isAsleep?: boolean;
}

/** What a revision's instances are to its traffic. */
export type Serving = Required<Pick<WorkloadStatus, 'desired' | 'ready' | 'isAsleep'>>;

/** `seen`: it said once that it has the revision's model. `changed`: it says that it has another, and gets no requests. */
export interface AdoptedServer {
  instanceId: string;
  /** Null before it was looked at. */
  baseUrl: string | null;
  model: 'seen' | 'unseen' | 'changed';
}

/** Offered by instances. Writing methods only write desired state; its reconciler makes it so. */
export interface InstancesPort {
  /** Every reason why this spec cannot run for the tenant on the configured targets. Calls nobody outside. */
  check(tx: Tx, tenantId: string, spec: RevisionSpec): Promise<SpecIssue[]>;
  /** What is promised of the engine or the profile that the spec names; undefined where nobody has described it. Calls nobody outside. */
  traits(spec: RevisionSpec): PromisedTraits | undefined;
  /**
   * Asks a server that is to be adopted for the model, once, within the time of one probe. Issues only where it plainly has others; `message`
   * says what was learned, and is undefined where the target starts its servers itself. No transaction: it waits on the network.
   */
  examine(
    workload: Pick<Workload, 'tenantId' | 'revisionId' | 'spec'>,
  ): Promise<{ issues: SpecIssue[]; message?: string }>;
  /**
   * Wants as many instances of the revision as `room` counts, and places the hold. Repeating it takes none away.
   * On a full target they wait for a place; what only `warm` holds there makes way, the oldest first. A tenant that has all instances of
   * its quota gives up what is warm as well; then it throws `quota_exceeded`.
   */
  want(tx: Tx, workload: Workload, holder: Holder): Promise<void>;
  /** Room on the spec's target, for the instances that a revision begins with. Counted without a lock: it forecasts. */
  room(tx: Tx, about: RoomAsked): Promise<Room>;
  /** How long a start of this deployment takes until it is ready, in seconds: the worst of the last three; null when none was measured. */
  startSeconds(tx: Tx, deploymentId: string): Promise<number | null>;
  /**
   * Stops the workload's instances although somebody holds it, until `resumeWorkload`, or until the operation is over. Its room is kept for its
   * deployment. Repeating it changes nothing; a second operation takes it over.
   */
  suspend(tx: Tx, revisionId: string, operationId: string): Promise<void>;
  /**
   * Asks the worker that leads the spec's target for what can be known before a start: that the host has the program and the model, and that
   * what a hub has is there. Asking again begins anew. Nothing is started, and no room taken.
   */
  prepare(tx: Tx, workload: Pick<Workload, 'tenantId' | 'revisionId' | 'spec'>, operationId: string): Promise<void>;
  /** What has become of it; undefined where it was never asked for. */
  preparation(tx: Tx, revisionId: string, operationId: string): Promise<Preparation | undefined>;
  /** What is held runs again. */
  resumeWorkload(tx: Tx, revisionId: string): Promise<void>;
  /** Instances that routes, operations and bindings of the tenant need, without what is only kept warm and without one revision's. */
  needed(tx: Tx, tenantId: string, exceptRevisionId?: string): Promise<number>;
  /** Places a hold on a workload that exists; after `forSeconds` it ends by itself. */
  hold(tx: Tx, revisionId: string, holder: Holder, forSeconds?: number): Promise<void>;
  release(tx: Tx, revisionId: string, holder: Holder): Promise<void>;
  /** Undefined when the revision never had a workload. */
  status(tx: Tx, revisionId: string): Promise<WorkloadStatus | undefined>;
  /** The part of it that health is judged by, of several revisions; those that never had a workload are left out. */
  serving(reads: Reads, revisionIds: readonly string[]): Promise<Map<string, Serving>>;
  /** Of these revisions those whose adopted servers have another model by now, all or some of them, and since when (RFC 3339). */
  driftedSince(tx: Tx, revisionIds: readonly string[]): Promise<Map<string, string>>;
  /** What is known of the servers that the revision adopts, in their order; empty where its target starts them itself. */
  adoptedServers(tx: Tx, revisionId: string): Promise<AdoptedServer[]>;
  /** Wakes the operation (through the outbox) as soon as the workload's readiness changes; one-shot. */
  wakeOnChange(tx: Tx, revisionId: string, operationId: string): Promise<void>;
  /** Sends one real health request to each ready instance now. Returns how many answered. No transaction: it waits on the network. */
  probe(revisionId: string): Promise<{ answered: number; asked: number }>;
  /** Requests that gateways have in flight to the revision, as of their last report. */
  inFlight(tx: Tx, revisionId: string): Promise<number>;
}
