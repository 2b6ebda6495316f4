import {
  defineFailures,
  type FailureCode,
  type InstanceDevices,
  type ObservationReason,
  type PromisedTraits,
  type RevisionSpec,
  type StartFailure,
  type StartProgress,
} from '@slipway/contracts';
import type { Reads, Tx } from '@slipway/platform-database';

export const INSTANCES = Symbol('InstancesPort');

/** The failures of an operation that needs instances. */
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
 * The reasons to retain a revision's instances: `route` while a route names the revision, `operation:<id>` while an
 * operation works on it, `binding:<id>` while a binding has it, `warm` until a time. The reconciler stops instances
 * that have no reason left. Stored as the `holder` of a row in `workload_holds`.
 */
export type Retainer = 'route' | 'warm' | `operation:${string}` | `binding:${string}`;

export interface Workload {
  tenantId: string;
  deploymentId: string;
  revisionId: string;
  /** Shown by gateways and events. */
  revisionName: string;
  spec: RevisionSpec;
  takesOver?: Takeover;
}

/**
 * Revisions whose traffic a revision takes over. It begins with as many instances as they have, as far as its scaling
 * and the capacity allow.
 */
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
 * Capacity of the target and its devices for one more revision's instances. Warm instances count as free. If `needed`
 * is more than `total` - `own`, this deployment itself uses the missing capacity, or the target does not have it.
 * Otherwise the caller waits for capacity that others use.
 */
export interface CapacityForecast {
  target: string;
  /** The scarcer of the two; `place` is one more instance on the target. */
  resource: 'place' | 'device';
  /** Number of instances that it begins with. */
  replicas: number;
  needed: number;
  /** Null if there is no limit, or if it is unknown. */
  total: number | null;
  /** Null if unknown; then nothing is refused for it. */
  free: number | null;
  /** Used by this deployment's other revisions, which routes and operations retain. */
  own: number;
  /** Whether `total` and `free` are those of the tenant's share of the target, because it leaves less than the target. */
  isShare?: true;
  /**
   * Instances of the tenant's workloads that run or may run, on any target, in a quick count: never less than `needed`
   * counts.
   */
  wanted: number;
}

/** Whether the target can run the instances next to what runs now. True if the target does not report its capacity. */
export function hasCapacity({ free, needed }: Pick<CapacityForecast, 'free' | 'needed'>): boolean {
  return free === null || free >= needed;
}

/**
 * Whether waiting would never free enough: the deployment itself uses the missing capacity, or the target does not have
 * it.
 */
export function isExhausted(capacity: Pick<CapacityForecast, 'free' | 'needed' | 'total' | 'own'>): boolean {
  return !hasCapacity(capacity) && capacity.total !== null && capacity.needed > capacity.total - capacity.own;
}

/** `asked`: no worker has begun yet. */
export interface WorkloadPreparation {
  state: 'asked' | 'running' | 'ready' | 'failed';
  progress: StartProgress | null;
  failure: StartFailure | null;
}

/** The running instances of a revision, and the results of its starts. */
export interface WorkloadStatus {
  /** Number of instances that should run (0 while it is suspended), and number that answer their probe now. */
  desired: number;
  ready: number;
  /** Restarts since the workload was last started; a crash counts as one. */
  restarts: number;
  /** Those of them that ended an instance that was ready. A failed start, as of an additional instance, is none. */
  crashes?: number;
  /** The newest problem in words, for a step's message; null if there is none. */
  message: string | null;
  /** The same for programs, as far as the target knows it. */
  reason?: ObservationReason | null;
  /** The failure of the last start, of the instance that ends a wait first; null once it is ready. */
  failure?: (StartFailure & { message: string }) | null;
  /** Number of its starts in a row that ended for this cause, since it was first wanted. */
  failedStarts?: number | null;
  /** The progress of the newest start, if the target knows it. */
  progress?: StartProgress | null;
  /** Time since the newest start began; null while none is running. */
  startingSeconds?: number | null;
  /** Number of instances that are not known to have stopped; 0 means that its processes are gone. */
  alive: number;
  baseUrls: string[];
  /** Its instances were stopped for lack of requests, and the next request starts one again. */
  isAsleep?: boolean;
}

/** One start of an instance. */
export interface MemberGeneration {
  id: string;
  generation: number;
}

/** An instance of a revision that runs or will run. */
export interface Member extends MemberGeneration {
  ordinal: number;
  state: 'pending' | 'starting' | 'ready' | 'unhealthy' | 'backing_off' | 'stopping' | 'stopped';
  message: string | null;
  reason: ObservationReason | null;
  failure: (StartFailure & { message: string }) | null;
  failedStarts: number;
  progress: StartProgress | null;
  /** It runs in addition to the wanted number, for a restart. */
  isSpare: boolean;
  /** It will stop, or is stopping, to start again. */
  isReplaced: boolean;
}

/** The instances of a revision that run or will run. */
export interface RevisionMembers {
  /** Whether a restart has added one. It may not be among the members yet. */
  hasSpare: boolean;
  members: Member[];
}

/** The last start of an instance that failed. */
export interface LastFailedStart {
  /** Name of the revision. */
  revision: string;
  instanceId: string;
  /** RFC 3339. */
  at: string;
  /** Its message includes the line that shows the cause. */
  failure: StartFailure & { message: string };
}

/** The part of a revision's status that matters for its traffic and its cost. */
export interface ServingStatus extends Required<Pick<WorkloadStatus, 'desired' | 'ready' | 'isAsleep'>> {
  /** Instances that occupy devices: those that start, and those that were ready and run. */
  running: number;
}

/** The part of a spec that determines the devices of an instance. */
export interface DeviceQuestion extends Pick<RevisionSpec, 'resources'> {
  runtime: Pick<RevisionSpec['runtime'], 'target' | 'engine'>;
}

/** Requests that the leaving instances of a revision wait for. */
export interface RevisionDrain {
  revisionName: string;
  requests: number;
  /** RFC 3339: when its last engine is stopped, whatever requests are in flight. */
  until: string;
}

/** An instance that is not wanted and not known to have ended. */
export interface UnendedInstance {
  id: string;
  target: string;
  /** The cause of the wait, in words. */
  why: string;
}

/** `seen`: it has once reported the revision's model. `changed`: it reports another model, and gets no requests. */
export interface AdoptedServer {
  instanceId: string;
  /** Null before the first check. */
  baseUrl: string | null;
  model: 'seen' | 'unseen' | 'changed';
}

/** Offered by instances. Methods that write only write the desired state; the reconciler brings it about. */
export interface InstancesPort {
  /**
   * Resolves the names of adopted servers in a spec or a patch that a client has just sent, so that `check` refuses
   * those that lead to an address that is not allowed. A name that cannot be resolved is not refused. Call it outside of
   * transactions.
   */
  resolveNames(tenantName: string, spec: unknown): Promise<void>;
  /**
   * Returns every reason why this spec cannot run for the tenant on the configured targets. Makes no call to other
   * hosts.
   */
  check(tx: Tx, tenantId: string, spec: RevisionSpec): Promise<RevisionSpecIssue[]>;
  /**
   * Returns the promised traits of the engine or the profile that the spec names; undefined if it has no description.
   * Makes no call to other hosts.
   */
  traits(spec: RevisionSpec): PromisedTraits | undefined;
  /**
   * Returns the accelerators that one instance of the spec takes, by the spec and by its engine. An instance that shares
   * a device counts as one that has it alone. Makes no call to other hosts.
   */
  devices(spec: DeviceQuestion): InstanceDevices;
  /**
   * Returns a digest of the engine's entry in the operator's configuration, which has its command or its image; null
   * without such an entry.
   */
  engineVersion(spec: Pick<DeviceQuestion, 'runtime'>): string | null;
  /**
   * Requests the model list of a server that is to be adopted, once, within the time of one probe. Reports issues only
   * if the server clearly has other models. `message` is the finding, and undefined if the target starts its servers
   * itself. Call it without a transaction: it waits on the network.
   */
  examine(
    workload: Pick<Workload, 'tenantId' | 'revisionId' | 'spec'>,
  ): Promise<{ issues: RevisionSpecIssue[]; message?: string }>;
  /**
   * Wants as many instances of the revision as `forecastCapacity` counts, and retains them. A repeated call removes
   * none. On a full target they wait for capacity; instances retained only by `warm` are stopped for them, the oldest
   * first. A tenant that has all instances of its quota gives up its warm ones as well. @throws quota_exceeded if that
   * is not enough
   */
  want(tx: Tx, workload: Workload, retainer: Retainer): Promise<void>;
  /**
   * Returns the capacity of the spec's target for the first instances of a revision. Counted without a lock, so it may
   * change.
   */
  forecastCapacity(tx: Tx, about: CapacityRequest): Promise<CapacityForecast>;
  /**
   * Returns how long a start of this deployment takes until it is ready, in seconds: the worst of the last three; null
   * if none was measured.
   */
  startSeconds(tx: Tx, deploymentId: string): Promise<number | null>;
  /**
   * Stops the workload's instances although it is retained, until `resumeWorkload`, or until the operation is over. Its
   * capacity is kept for its deployment. Repeating it changes nothing; a second operation takes it over. Requests in
   * flight may take up to `drainSeconds` (30 by default), and no longer than the deployment allows.
   */
  suspend(tx: Tx, revisionId: string, operationId: string, drainSeconds?: number): Promise<void>;
  /**
   * Requests a preparation from the worker that leads the spec's target. It checks everything that can be known before
   * a start: the host has the program and the model, and a hub has the named files. A repeated request begins again. It
   * starts nothing and takes no capacity.
   */
  prepare(tx: Tx, workload: Pick<Workload, 'tenantId' | 'revisionId' | 'spec'>, operationId: string): Promise<void>;
  /** Returns the state of the preparation; undefined if none was requested. */
  preparation(tx: Tx, revisionId: string, operationId: string): Promise<WorkloadPreparation | undefined>;
  /** Lets retained instances run again. */
  resumeWorkload(tx: Tx, revisionId: string): Promise<void>;
  /**
   * Returns the number of instances that routes, operations and bindings of the tenant need, without warm ones and
   * without those of one revision.
   */
  needed(tx: Tx, tenantId: string, exceptRevisionId?: string): Promise<number>;
  /** Retains an existing workload; after `forSeconds` this ends by itself. */
  retain(tx: Tx, revisionId: string, retainer: Retainer, forSeconds?: number): Promise<void>;
  /** If no reason is left, its instances drain for up to `drain_seconds` of the deployment and are then stopped. */
  release(tx: Tx, revisionId: string, retainer: Retainer): Promise<void>;
  /**
   * The drain of the revision waits for no request that got no byte for 30 s: the traffic has left it because of its
   * health. Ends when it is wanted again. Instances that miss their probes or have just crashed do so without it.
   */
  abandonSilentRequests(tx: Tx, tenantId: string, revisionId: string): Promise<void>;
  /** Returns the revisions that wait for requests, by deployment id. Deployments without any are left out, or empty. */
  draining(reads: Reads, deploymentIds: readonly string[]): Promise<Map<string, RevisionDrain[]>>;
  /**
   * Ends the drains of a deployment: the reconciler stops the engines now. Repeating it changes nothing.
   * @returns the names of their revisions
   */
  endDrains(tx: Tx, tenantId: string, deploymentId: string): Promise<string[]>;
  /** Returns the first few instances of a deployment that are not wanted and not known to have ended. */
  unended(tx: Tx, deploymentId: string): Promise<UnendedInstance[]>;
  /**
   * Adds one instance to a running revision while a restart replaces the others, if the target and the quota have
   * capacity. Repeating it adds none. It runs until `removeSpare`.
   */
  addSpare(tx: Tx, workload: Workload): Promise<void>;
  removeSpare(tx: Tx, revisionId: string): Promise<void>;
  /**
   * Lets one instance stop and start again as its next generation, with the same capacity. It gets no new requests, and
   * those in flight may take up to `drainSeconds`, and no longer than the deployment allows. Changes nothing if the
   * instance is not running, or has another generation by now.
   */
  replace(tx: Tx, revisionId: string, instance: MemberGeneration, drainSeconds: number): Promise<void>;
  members(tx: Tx, revisionId: string): Promise<RevisionMembers>;
  /** Whether the target of the spec adopts servers that others run, so that nothing here starts or stops them. */
  isAdopted(spec: RevisionSpec): boolean;
  /** Undefined if the revision never had a workload. */
  status(tx: Tx, revisionId: string): Promise<WorkloadStatus | undefined>;
  /**
   * Ends a wait for instances that will not become ready: at once for a cause that no waiting fixes, after a minute for
   * one that is seldom fixed, or after three starts that ended alike.
   * @throws StepFailed `target_not_ready`: the message has the cause, the line that shows it and the remedy; that of the
   * step counts instances and starts; the evidence has the last lines
   */
  assertMayBecomeReady(status: WorkloadStatus): void;
  /** Returns why instances are not ready, cause first; undefined if nothing is known. */
  troubleText(status: WorkloadStatus | undefined): string | undefined;
  /**
   * Returns the failure of a wait at its deadline: lack of capacity, an unavailable target, or a fault of the
   * instances.
   */
  lateFailure(status: WorkloadStatus | undefined): FailureCode;
  /** Returns the message of a wait: the problem, or the progress of the start. */
  waitMessage(status: WorkloadStatus | undefined): string;
  /** Such as `downloading 1.2 of 4.1 GB`. */
  progressText(progress: StartProgress | null | undefined): string;
  /**
   * Returns the part of the status that decides about health, of several revisions. Those that never had a workload are
   * left out.
   */
  serving(reads: Reads, revisionIds: readonly string[]): Promise<Map<string, ServingStatus>>;
  /**
   * Returns the last failed start of each of these deployments. It is kept until a start of the same revision is ready.
   */
  lastFailedStarts(reads: Reads, deploymentIds: readonly string[]): Promise<Map<string, LastFailedStart>>;
  /**
   * Returns those of these revisions of which some or all adopted servers now have another model, and since when (RFC
   * 3339).
   */
  driftedSince(tx: Tx, revisionIds: readonly string[]): Promise<Map<string, string>>;
  /**
   * Returns the state of the servers that the revision adopts, in their order; empty if its target starts them itself.
   */
  adoptedServers(tx: Tx, revisionId: string): Promise<AdoptedServer[]>;
  /** Wakes the operation (through the outbox) as soon as the workload's readiness changes; one-shot. */
  wakeOnChange(tx: Tx, revisionId: string, operationId: string): Promise<void>;
  /**
   * Sends one real health request to each ready instance now. Returns how many answered. Call it without a transaction:
   * it waits on the network.
   */
  probe(revisionId: string): Promise<{ answered: number; asked: number }>;
  /** Returns the requests that gateways have in flight to the revision, as of their last report. */
  inFlight(tx: Tx, revisionId: string): Promise<number>;
}
