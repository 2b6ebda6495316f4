import {
  defineFailures,
  type FailureCode,
  type ObservationReason,
  type PromisedTraits,
  type RevisionSpec,
  type StartFailure,
  type StartProgress,
} from '@slipway/contracts';
import type { Reads, Tx } from '@slipway/platform-database';

export const INSTANCES = Symbol('InstancesPort');

/** How an operation fails that needs instances. */
export const instanceFailures = defineFailures({
  capacity_exhausted: [
    'The target has no capacity for the additional instances',
    'Lower `min_replicas`, delete deployments that are not needed, or ask the operator to give the target more capacity: `max_instances`, or nodes and quota of its cluster.',
  ],
  quota_exceeded: [
    'The tenant would have more instances than its quota allows',
    'Lower `min_replicas`, delete a deployment, or ask the operator for a higher quota.',
  ],
  target_not_ready: [
    'The instances were not ready by the deadline',
    'Read `message` and the log in the evidence of the step; fix the startup, or allow more time with `progress_deadline_seconds`.',
  ],
});

/**
 * What retains a revision's instances: `route` while a route names the revision, `operation:<id>` while an operation works on it,
 * `binding:<id>` while a binding has it, `warm` until a time. The reconciler stops instances that nothing retains any more.
 * Stored as the `holder` of a row in `workload_holds`.
 */
export type Retainer = 'route' | 'warm' | `operation:${string}` | `binding:${string}`;

export interface Workload {
  tenantId: string;
  deploymentId: string;
  revisionId: string;
  /** Gateways and events show it. */
  revisionName: string;
  spec: RevisionSpec;
  takesOver?: Takeover;
}

/** Whose traffic a revision takes over: it begins with as many instances as they have, as far as its scaling and the capacity allow. */
export interface Takeover {
  revisionIds: readonly string[];
  /** They are stopped before it starts, and leave it their capacity. */
  areStopped: boolean;
}

/** The revision need not exist yet. */
export interface CapacityRequest extends Pick<Workload, 'tenantId' | 'deploymentId' | 'spec' | 'takesOver'> {
  revisionId?: string;
}

export interface RevisionSpecIssue {
  /** Path within the revision's spec, such as `runtime.args.ttft_ms`. */
  field: string;
  code: string;
  message: string;
}

/**
 * Capacity of the target and its devices for one more revision's instances. Warm instances count as free. If `needed` > `total` - `own`,
 * this deployment itself uses what is missing, or the target does not have it; else the caller waits for capacity that others use.
 */
export interface CapacityForecast {
  target: string;
  /** The scarcer of the two; `place`: an instance more on the target. */
  resource: 'place' | 'device';
  /** Instances that it begins with. */
  replicas: number;
  needed: number;
  /** Null: without a limit, or nobody knows. */
  total: number | null;
  /** Null: nobody knows, and nothing is refused for it. */
  free: number | null;
  /** Used by this deployment's other revisions, which routes and operations retain. */
  own: number;
  /** Instances of the tenant's workloads that run or may run, on whichever targets, quickly counted: never less than `needed` says. */
  wanted: number;
}

/** `asked`: no worker has looked yet. */
export interface WorkloadPreparation {
  state: 'asked' | 'running' | 'ready' | 'failed';
  progress: StartProgress | null;
  failure: StartFailure | null;
}

/** What runs of a revision, and what its starts come to. */
export interface WorkloadStatus {
  /** How many instances should run (0 while it is suspended), and how many answer their probe now. */
  desired: number;
  ready: number;
  /** Restarts since the workload was last started; a crash counts one. */
  restarts: number;
  /** The newest trouble in words, for a step's message; null when there is none. */
  message: string | null;
  /** The same for programs, as far as the target can tell. */
  reason?: ObservationReason | null;
  /** Why the last start came to nothing, of the instance that ends a wait first; null once it is ready. */
  failure?: (StartFailure & { message: string }) | null;
  /** Starts of it in a row that ended for this cause, since somebody began to want it. */
  failedStarts?: number | null;
  /** How far the newest start is, where the target can tell. */
  progress?: StartProgress | null;
  /** Since the newest start began; null while none is under way. */
  startingSeconds?: number | null;
  /** Instances that are not known to have stopped; 0 = its processes are gone. */
  alive: number;
  baseUrls: string[];
  /** Its instances were taken away because nobody asked for it, and the next request brings one back. */
  isAsleep?: boolean;
}

/** What a revision's instances are to its traffic. */
export type ServingStatus = Required<Pick<WorkloadStatus, 'desired' | 'ready' | 'isAsleep'>>;

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
  check(tx: Tx, tenantId: string, spec: RevisionSpec): Promise<RevisionSpecIssue[]>;
  /** What is promised of the engine or the profile that the spec names; undefined where nobody has described it. Calls nobody outside. */
  traits(spec: RevisionSpec): PromisedTraits | undefined;
  /**
   * Asks a server that is to be adopted for the model, once, within the time of one probe. Issues only where it plainly has others; `message`
   * says what was learned, and is undefined where the target starts its servers itself. No transaction: it waits on the network.
   */
  examine(
    workload: Pick<Workload, 'tenantId' | 'revisionId' | 'spec'>,
  ): Promise<{ issues: RevisionSpecIssue[]; message?: string }>;
  /**
   * Wants as many instances of the revision as `forecastCapacity` counts, and retains them. Repeating it takes none away.
   * On a full target they wait for capacity; what only `warm` retains there makes way, the oldest first. A tenant that has all instances of
   * its quota gives up what is warm as well; then it throws `quota_exceeded`.
   */
  want(tx: Tx, workload: Workload, retainer: Retainer): Promise<void>;
  /** Capacity of the spec's target for the instances that a revision begins with. It is counted without a lock, so it may change. */
  forecastCapacity(tx: Tx, about: CapacityRequest): Promise<CapacityForecast>;
  /** How long a start of this deployment takes until it is ready, in seconds: the worst of the last three; null when none was measured. */
  startSeconds(tx: Tx, deploymentId: string): Promise<number | null>;
  /**
   * Stops the workload's instances although it is retained, until `resumeWorkload`, or until the operation is over. Its capacity is kept for its
   * deployment. Repeating it changes nothing; a second operation takes it over.
   */
  suspend(tx: Tx, revisionId: string, operationId: string): Promise<void>;
  /**
   * Asks the worker that leads the spec's target for what can be known before a start: that the host has the program and the model, and that
   * what a hub has is there. Asking again begins anew. Nothing is started, and no capacity taken.
   */
  prepare(tx: Tx, workload: Pick<Workload, 'tenantId' | 'revisionId' | 'spec'>, operationId: string): Promise<void>;
  /** What has become of it; undefined where it was never asked for. */
  preparation(tx: Tx, revisionId: string, operationId: string): Promise<WorkloadPreparation | undefined>;
  /** What is retained runs again. */
  resumeWorkload(tx: Tx, revisionId: string): Promise<void>;
  /** Instances that routes, operations and bindings of the tenant need, without what is only kept warm and without one revision's. */
  needed(tx: Tx, tenantId: string, exceptRevisionId?: string): Promise<number>;
  /** Retains a workload that exists; after `forSeconds` this ends by itself. */
  retain(tx: Tx, revisionId: string, retainer: Retainer, forSeconds?: number): Promise<void>;
  release(tx: Tx, revisionId: string, retainer: Retainer): Promise<void>;
  /** Undefined when the revision never had a workload. */
  status(tx: Tx, revisionId: string): Promise<WorkloadStatus | undefined>;
  /**
   * Ends a wait for instances that will not become ready: for a cause that no waiting mends, after a minute for one that is seldom mended,
   * or after three starts that ended alike.
   * @throws StepFailed `target_not_ready`: the cause, the line that tells it and what to do in the message, the last lines as evidence
   */
  assertMayBecomeReady(status: WorkloadStatus): void;
  /** The failure of a wait at its deadline: for want of capacity, because the target was away, or by the instances' own fault. */
  lateFailure(status: WorkloadStatus | undefined): FailureCode;
  /** What a wait shows: the trouble, or how far the start is. */
  waitMessage(status: WorkloadStatus | undefined): string;
  /** Such as `downloading 1.2 of 4.1 GB`. */
  progressText(progress: StartProgress | null | undefined): string;
  /** The part of it that health is judged by, of several revisions; those that never had a workload are left out. */
  serving(reads: Reads, revisionIds: readonly string[]): Promise<Map<string, ServingStatus>>;
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
