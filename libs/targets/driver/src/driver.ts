import type {
  Device,
  EffectiveScaling,
  EngineArg,
  EngineService,
  IdentityProof,
  InstanceDevices,
  ModelSpec,
  ObservationReason,
  RevisionSpec,
  StartFailure,
  StartProgress,
  UnknownModel,
} from '@slipway/contracts';
import type { TargetConfig, TargetReader } from '@slipway/platform-config';
import type { CallableServer } from './engine-call.js';
import type { LogLine, LogOptions } from './logs.js';

/**
 * An instance that a caller wants to run, made from a `RevisionSpec`. The caller stores it and passes it to every call.
 * A driver keeps no copy, so any worker can continue after another one died.
 */
export interface InstanceSpec {
  /** Stable id of the instance, `[A-Za-z0-9_-]{1,128}`. Its folder, its logs and its entry in `list()` keep this id. */
  instanceId: string;
  /**
   * 1 for the first start, and one more for every restart by the caller. A driver starts each generation **at most
   * once**. A generation that crashed or was terminated stays ended until the caller requests the next.
   */
  generation: number;
  /**
   * Name of the tenant that the instance is for, because parts of a target may be for some tenants only. Without a
   * name, it gets only the parts that are for all tenants.
   */
  tenantName?: string;
  /** The owner, for names and labels. Absent if a spec is only checked. */
  owner?: { tenantId: string; deploymentId: string; revisionId: string; revisionName: string; ordinal: number };
  model: ModelSpec;
  resources?: RevisionSpec['resources'];
  /**
   * How many instances the revision should have, if the caller knows. Some targets limit the number, or protect that
   * many from disruptions.
   */
  scaling?: Pick<EffectiveScaling, 'min_replicas' | 'max_replicas'>;
  runtime: {
    /** Name of an engine template of the target. Only targets that start servers have engines. */
    engine?: string;
    /** Values for arguments that the engine template declares. Any other argument is an issue. */
    args: RevisionSpec['runtime']['args'];
    /** Environment of the engine, with resolved secrets. A driver never writes it to disk. */
    env: Record<string, string>;
    /** Secrets by reference, for a target that resolves them itself: variable → secret and key in the target. */
    envRefs?: Record<string, { secret: string; key: string }>;
  };
  /** Address of the running server. Only targets that adopt have endpoints. `credential` is a resolved bearer token. */
  endpoint?: {
    baseUrl: string;
    /** Path of the API, if `serverUrls` does not find it. */
    apiPath?: string;
    healthPath: string;
    credential?: string;
    /**
     * The server was observed with the model, in any life of the instance. If it lacks the model now, it is another
     * server than the adopted one.
     */
    isModelSeen?: boolean;
    /**
     * The message of `model_changed`, if that was the last observation of the instance. Until the server shows its model
     * again, it counts as changed, whatever it does not report.
     */
    modelChange?: string;
  };
  /**
   * `path` overrides the health path of the engine or endpoint. `timeoutSeconds` limits one probe.
   * `failureThreshold` is the number of failed probes in a row after which a ready instance is unhealthy.
   * `intervalSeconds` is how often the caller observes; drivers start no timer for it.
   * `set` names the values that the revision itself sets. These override the engine's own settings, which override the
   * caller's defaults.
   */
  probe: {
    path?: string;
    intervalSeconds: number;
    timeoutSeconds: number;
    failureThreshold: number;
    set?: ('intervalSeconds' | 'timeoutSeconds' | 'failureThreshold')[];
  };
  /** Seconds that an instance may take to its first healthy probe. After that it counts as unhealthy. */
  readyTimeoutSeconds?: number;
  /**
   * All locations in which generations of the instance may have been made, the newest last. A driver also searches
   * there, because the configuration may have changed since.
   */
  madeAt?: readonly UnitLocation[];
  /**
   * Accelerators that the caller has assigned to the instance, in the order in which the engine sees them. Absent or
   * empty for none.
   */
  devices?: Pick<Device, 'uuid' | 'index'>[];
  /** The key of this generation, for engines whose template uses one. Such an engine refuses requests without it. */
  instanceKey?: string;
}

/**
 * The state of **the requested generation**:
 *
 * - `absent`: it was never started here. `provision` starts it.
 * - `starting`: it runs and has not been healthy yet.
 * - `ready`: it runs and answers its health probe (or missed fewer than `failureThreshold` in a row).
 * - `unhealthy`: it runs but misses its probes, or did not become ready in time.
 * - `stopping`: a stop was requested, or an older generation must end first. Observe again.
 * - `exited`: it ran and ended, by itself, by `terminate` or because a newer generation replaced it. Only the next
 *   generation starts again.
 */
export type ObservedState = 'absent' | 'starting' | 'ready' | 'unhealthy' | 'exited' | 'stopping';

export interface Observation {
  state: ObservedState;
  /** The address for requests, without a trailing slash: `http://127.0.0.1:20001`. Present while a server runs. */
  baseUrl?: string;
  /**
   * Identifies one life of the server: a pid, or a pod and its restart count. Present while a server runs. It changes
   * within a generation only if the target restarts servers by itself.
   */
  incarnation?: string;
  /** How often the target itself has restarted this generation. */
  restarts?: number;
  /** Why the instance is in this state, if the target knows. */
  reason?: ObservationReason;
  /** One sentence for people. Control flow never reads it. */
  message?: string;
  /**
   * The state comes from a sign at second hand, such as a node that no longer reports to its cluster. The server may well
   * answer, so the caller asks the server itself.
   */
  isSecondHand?: true;
  /** The probe got no answer at all, so its sender or the network may be at fault instead of the server. */
  isUnanswered?: true;
  /**
   * Address of a server of this generation that is being ended and still answers, such as a pod in its grace period. It
   * may be there in addition to `baseUrl` of its replacement.
   */
  endingUrl?: string;
  /** An adopted server reports the model of the revision. The caller passes this in again as `endpoint.isModelSeen`. */
  isModelSeen?: true;
  /** How the last life ended. `code` is null for a signal, or if no driver saw the end; `at` is RFC 3339. */
  lastExit?: { code: number | null; reason?: ObservationReason; at?: string };
  /** Where the instance runs within the target, such as a node. */
  place?: string;
  /** Changes that another client has made to the instance on the target, for people. The instance continues to run. */
  drift?: string;
  /** Why the start of this generation failed. Present if it ended and was never ready. */
  failure?: StartFailure;
  /** Progress of the start, while the instance is starting and if the target knows it. */
  progress?: StartProgress;
  /** The observed generation. It differs from the requested one while an older one stops, or if a newer one exists. */
  generation?: number;
}

/** The models that a server lists, or for people the reason why they are unknown. */
export type ModelsAnswer = { names: string[] } | { unknown: string };

/**
 * A rule that a spec breaks. `field` is a path of the API's revision spec: `runtime.args.ttft_ms`, `endpoint.base_url`.
 */
export interface InstanceSpecIssue {
  field: string;
  code: 'required' | 'unknown' | 'not_declared' | 'not_allowed' | 'invalid_value' | 'not_applicable';
  message: string;
}

/** How far a host has prepared a start. `failed` is final for its `instanceId`. */
export type StartPreparation =
  { state: 'ready' } | { state: 'running'; progress: StartProgress } | { state: 'failed'; failure: StartFailure };

/**
 * Where the unit of an instance is made: a cluster and a namespace, a folder of a host, or the address of a server. The
 * caller stores it before `provision` and passes it back. Only a driver of the same `kind` reads the other keys.
 */
export interface UnitLocation {
  kind: string;
  [key: string]: string;
}

/** Objects with our marks on a target, of another target name or of no instance. No caller knows them. */
export interface UnknownUnits {
  /** The name of the target that made them. */
  target: string;
  /** Where they are, for people: `namespace models`. */
  location: string;
  /** Number of units, and of those that run. */
  count: number;
  running: number;
  /** Names of the first of them. */
  names: string[];
  /** The command that removes them. */
  command: string;
}

/** An instance of which the target still has something. `incarnation` is missing if none of its servers runs. */
export interface InstanceRef {
  instanceId: string;
  generation: number;
  incarnation?: string;
}

/** Whether a target can be used at the moment. `message` names for operators what is missing, in one sentence. */
export interface TargetHealth {
  state: 'ok' | 'degraded';
  message?: string;
  /**
   * Objects that the target does not let us make or change, for operators, in a few sentences. All else works, so the
   * state may be `ok`.
   */
  refused?: string;
}

/** An engine as `GET /targets` shows it. */
export interface EngineDescription {
  name: string;
  /** Arguments and variables that `runtime.args` and `runtime.env` of a revision may set. */
  args: string[];
  env: string[];
  /** The declarations of the same arguments. */
  declared?: EngineArg[];
  /** The template that the engine extends, such as `llamacpp@1`. Absent if the operator wrote the engine. */
  template?: string;
}

/** The properties of an engine that callers need. A target that adopts has a profile instead of a template. */
export interface EngineTraits {
  serves: EngineService[];
  unknownModel: UnknownModel;
  identity: IdentityProof[];
  /** Whether it reuses cached prefixes only for requests with the same `cache_salt`. */
  hasCacheSalt: boolean;
  /** How many accelerators the engine takes, and whether it can share one with others. Absent: it uses none. */
  gpus?: { min: number; max: number; share: 'exclusive' | 'fraction' };
  /** How long the memory of its accelerators may take to become free after its end; 30 s by default. */
  memoryFreeWithinSeconds?: number;
  /** Seconds until its first healthy answer. */
  readyTimeoutSeconds: number;
  /** Tokens that one request may have, by the template and the arguments of the spec; absent if unknown. */
  contextLength?: number;
  /** Whether it refuses requests without `instanceKey`. */
  isKeyed: boolean;
  /** Probe settings after the engine was ready, for values that a revision does not set. */
  live?: Partial<InstanceSpec['probe']>;
  /** Which side lets running requests end before a stop: the engine after its signal, or the gateways before it. */
  drain: 'engine' | 'gateway';
}

/** The work that waits in an engine. A value is null if the engine does not report it. */
export interface EngineLoad {
  /** Requests that the engine has accepted and not started. */
  waiting: number | null;
  /** Used share of the memory for keys and values, 0..1. */
  kvUsage: number | null;
}

/**
 * Makes instances run on one execution target. Every method may be called again after a crash, and from several
 * processes at once. A driver remembers nothing that the next process would need.
 *
 * The caller's loop is: `provision` while the instance is wanted and `observe` returns `absent`; `generation + 1` after
 * `exited`; `terminate` until it returns `gone` once the instance is no longer wanted.
 */
export interface TargetDriver {
  readonly kind: string;
  readonly name: string;
  /** True if instances exist without the driver: `provision` starts nothing and `terminate` stops nothing. */
  readonly adopts: boolean;
  /**
   * Which side starts an ended server again: the caller, with the next generation, or the target, within the
   * generation.
   */
  readonly restarts: 'caller' | 'target';
  /**
   * `look`: each `observe` sends a probe and counts misses. `target`: the target probes, and `observe` reports its
   * result.
   */
  readonly probes: 'look' | 'target';
  /** Whether instances stay when this host goes down. If so, a stop of the host's engines leaves them alone. */
  readonly outlivesHost: boolean;
  /**
   * How the driver receives the operator's secrets that `runtime.env` of a revision names. `resolved`: their values, in
   * `env`. `references`: their location in the target, in `envRefs`. `both`: as the operator has declared each secret.
   * Absent: `resolved`. It may change with the configuration.
   */
  readonly secrets?: 'resolved' | 'references' | 'both';
  /**
   * Prepares another configuration of this target. Returns the function that puts it into effect, which cannot fail.
   * Running instances keep the configuration of their start, also for observations; later starts use the new one.
   * @throws TargetConfigError if the driver cannot work with the configuration; nothing has changed then
   */
  reconfigure(config: TargetConfig): () => void;
  /** The engines that the driver can start; none if it adopts. */
  engines(): EngineDescription[];
  /** Every rule that the spec breaks; empty if it can be provisioned. Pure: no file, no network. */
  check(spec: InstanceSpec): InstanceSpecIssue[];
  /**
   * For a driver that adopts: why a server's name is refused that leads to an address that is not allowed now. A name
   * that cannot be resolved is not refused. It takes a second at most.
   */
  checkName?(baseUrl: string, tenantName: string): Promise<string | undefined>;
  /**
   * Starts this generation unless it was started before. Returns when the start is recorded, not when the instance is
   * ready. While an older generation runs, this only begins to stop it: call again after the next observation.
   * @throws InvalidSpecError if `check` finds an issue; other errors come from the host and are worth a retry
   */
  provision(spec: InstanceSpec): Promise<void>;
  /**
   * Where `provision` makes the unit with the current configuration. The caller stores it first, so that no unit can be
   * forgotten; `provision` makes no unit in a location that is not in `madeAt`. It makes no request.
   * @throws Error if the location is not known at the moment
   */
  locationOf?(spec: InstanceSpec): UnitLocation;
  /**
   * Why this driver cannot find or stop a unit that was made in these locations, in one sentence with what to do.
   * Undefined if it can, or if it is not known at the moment. It makes no request.
   */
  unreachable?(instanceId: string, madeAt: readonly UnitLocation[]): string | undefined;
  /**
   * Checks and fetches what a start needs: whether the host has the program and the model's file, and the download of a
   * model from a hub. Call again while it is `running`; `instanceId` distinguishes requests. It occupies nothing.
   * Absent for a target that starts nothing.
   */
  prepare?(spec: InstanceSpec): Promise<StartPreparation>;
  /**
   * One observation, including one health probe. Observed states are never errors, nor is a spec that `check` now
   * refuses.
   * @throws Error if the driver cannot observe
   */
  observe(spec: InstanceSpec): Promise<Observation>;
  /** Sends one health request now. It is independent of `observe` and does not affect its counts. Never throws. */
  answers(spec: InstanceSpec, baseUrl: string): Promise<boolean>;
  /** How requests reach the server at this address, as the gateways send them. Pure. */
  callable(spec: InstanceSpec, baseUrl: string): CallableServer;
  /**
   * Requests once how much work waits in an engine, in bounded time and memory. Undefined if the engine does not report
   * it. Never throws.
   */
  load?(spec: InstanceSpec, baseUrl: string): Promise<EngineLoad | undefined>;
  /**
   * Requests the list of models of an adopted server: once, within the time of one probe, and in bounded memory. Never
   * throws. The names are the server's own words. Absent if the target starts its servers itself.
   */
  models?(spec: InstanceSpec): Promise<ModelsAnswer>;
  /**
   * Begins a graceful stop of every generation, and kills the rest after the grace period. Returns whether anything is
   * left. Returns `gone` for an unknown id. A terminated generation can never be started again.
   * @param madeAt as in `InstanceSpec`
   * @throws Error if the driver cannot see one of these locations
   */
  terminate(instanceId: string, madeAt?: readonly UnitLocation[]): Promise<'stopping' | 'gone'>;
  /**
   * The instances of this target that exist and were not terminated completely, so that orphans can be found.
   * @param madeAt locations in which instances of the target were made, to search there too
   */
  list(madeAt?: readonly UnitLocation[]): Promise<InstanceRef[]>;
  /**
   * Units of this installation that belong to no target in `targets`, or to no instance. Bounded in number, and without
   * a request if the driver knows them. The driver never stops them.
   */
  unknownUnits?(targets: ReadonlySet<string>): Promise<UnknownUnits[]>;
  /** Calls the listener when an instance may have changed. A caller observes a target with this method less often. */
  onChange?(listener: (instanceId: string) => void): void;
  /** Traits of the engine or profile that the spec names. Undefined if the target does not have that engine. Pure. */
  traits?(spec: InstanceSpec): EngineTraits | undefined;
  /**
   * The accelerators that one instance takes. Undefined if the target does not have the engine. Absent if `resources` of
   * the spec and `gpus` of the traits are enough to know it. Pure.
   */
  instanceDevices?(spec: Pick<InstanceSpec, 'runtime' | 'resources'>): InstanceDevices | undefined;
  /**
   * Facts that the operator should know about the configuration of this target, a sentence each. Logged when it takes
   * effect.
   */
  warnings?(): string[];
  /** The known health of the target itself, without a request to it. Absent if a target cannot fail as a whole. */
  health?(): TargetHealth;
  /** The accelerators of this target's host, within 15 s. Never throws. Absent if the target knows of none. */
  devices?(): Promise<{ devices: Device[]; problem?: string }>;
  /** Output of an instance, as far as the target keeps it. Memory is bounded, whatever an engine writes. */
  logs?(instanceId: string, options: LogOptions): AsyncIterable<LogLine>;
  /** Releases timers and connections of this object. Instances continue to run. */
  close(): Promise<void>;
}

/**
 * The message of an instance whose target cannot be used at the moment.
 * @param words the reason, if the tenant may read it
 */
export function awayText(words?: string): string {
  return `waiting for its target, which is not available${words === undefined ? '' : `: ${words}`}`;
}

/** Thrown by `provision` for a spec that `check` refuses. */
export class InvalidSpecError extends Error {
  constructor(readonly issues: InstanceSpecIssue[]) {
    super(issues.map((issue) => `${issue.field}: ${issue.message}`).join('; '));
    this.name = 'InvalidSpecError';
  }
}

/** Thrown by a driver's constructor if the operator's configuration of the target is invalid. Lists every problem. */
export class TargetConfigError extends Error {
  constructor(
    readonly target: string,
    readonly problems: string[],
  ) {
    super(`execution target "${target}": ${problems.join('; ')}`);
    this.name = 'TargetConfigError';
  }
}

/** @throws InvalidSpecError if `check` of the driver finds an issue */
export function assertSpec(driver: TargetDriver, spec: InstanceSpec): void {
  const issues = driver.check(spec);
  if (issues.length > 0) throw new InvalidSpecError(issues);
}

/** The services of a process for its drivers. */
export interface DriverHost {
  /** SLIPWAY_HOME, absolute. Every worker of the host shares it. */
  home: string;
  /** The worker's PATH, on which the driver finds programs of the host. */
  path?: string;
  /** Ports of this machine that no connection may lead to. */
  ownPorts: readonly number[];
  /** Whether this process starts and stops instances; it does by default. The api only requests and checks. */
  starts?: boolean;
  /**
   * The current value of one of the operator's secrets.
   * @throws Error if there is no such secret; it contains the name and never a value
   */
  secret(name: string): string;
  /**
   * The UUID of this installation, written into its database once. It distinguishes objects of this installation from
   * those of another one in the same target.
   */
  installation?(): Promise<string>;
  /** Named points at which a test may hold or kill the process. */
  pausePoint(name: string): Promise<void>;
}

/**
 * A kind of execution target: how the operator's file describes one, and the driver that runs it. A new kind needs a
 * folder of `libs/targets` that exports a `TargetKind`, its conformance test, and a line in
 * `libs/registry/src/targets.ts`.
 */
export interface TargetKind extends TargetReader {
  /** @throws TargetConfigError if the driver cannot work with the target; the operator's file is refused then */
  createDriver(config: TargetConfig, host: DriverHost): TargetDriver;
}

/** Nest token of all kinds: `@Inject(TARGET_KINDS) kinds: readonly TargetKind[]`. */
export const TARGET_KINDS = Symbol('TargetKinds');
