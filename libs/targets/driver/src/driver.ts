import type {
  Device,
  EffectiveScaling,
  EngineArg,
  EngineService,
  IdentityProof,
  ModelSpec,
  ObservationReason,
  RevisionSpec,
  StartFailure,
  StartProgress,
  UnknownModel,
} from '@slipway/contracts';
import type { TargetConfig, TargetReader } from '@slipway/platform-config';
import type { LogLine, LogOptions } from './logs.js';

/**
 * What a caller wants to run, made of a `RevisionSpec`. Stored by the caller, handed in again on every call: a driver keeps no
 * copy, so that any worker can go on where another one died.
 */
export interface InstanceSpec {
  /** Stable id of the instance, `[A-Za-z0-9_-]{1,128}`. Keeps its folder, its logs and its place in `list()`. */
  instanceId: string;
  /**
   * 1 for the first start, raised by one for every restart by the caller. A driver starts each generation **at most once**,
   * whatever happens to it: a crashed or terminated generation stays over until the caller asks for the next.
   */
  generation: number;
  /** Name of the tenant it is for: parts of a target may be for some tenants only. Unnamed, it gets what is for all. */
  tenantName?: string;
  /** Whose it is, for names and labels. Absent if a spec is only checked. */
  owner?: { tenantId: string; deploymentId: string; revisionId: string; revisionName: string; ordinal: number };
  model: ModelSpec;
  resources?: RevisionSpec['resources'];
  /** How many instances its revision is to have, where the caller says: some targets bound it, or guard that many at a time. */
  scaling?: Pick<EffectiveScaling, 'min_replicas' | 'max_replicas'>;
  runtime: {
    /** Name of an engine template of the target. Only targets that start something have engines. */
    engine?: string;
    /** Values for arguments that the engine template declares; anything else is an issue. */
    args: RevisionSpec['runtime']['args'];
    /** Environment of the engine, secrets already resolved. Never written to disk by a driver. */
    env: Record<string, string>;
    /** Secrets by reference, for a target that resolves them itself: variable → secret and key there. */
    envRefs?: Record<string, { secret: string; key: string }>;
  };
  /** Where the server already runs. Only targets that adopt have endpoints. `credential` is a resolved bearer token. */
  endpoint?: {
    baseUrl: string;
    healthPath: string;
    credential?: string;
    /** It was seen to have the model, in whichever life of the instance: without it now it is another server than was adopted. */
    isModelSeen?: boolean;
  };
  /**
   * `path` overrides the health path of the engine or endpoint. `timeoutSeconds` bounds one probe,
   * `failureThreshold` is the number of failed probes in a row that turns ready into unhealthy.
   * `intervalSeconds` is the caller's pace of `observe`; drivers start no timer for it. `set` names what the revision itself says: it
   * goes before an engine's own settings, which go before the caller's defaults.
   */
  probe: {
    path?: string;
    intervalSeconds: number;
    timeoutSeconds: number;
    failureThreshold: number;
    set?: ('intervalSeconds' | 'timeoutSeconds' | 'failureThreshold')[];
  };
  /** Seconds an instance may take to its first healthy probe before it counts as unhealthy. */
  readyTimeoutSeconds?: number;
  /** Accelerators that the caller has assigned to it, in the order in which the engine shall see them; absent or empty for none. */
  devices?: Pick<Device, 'uuid' | 'index'>[];
  /** The key of this generation, for engines whose template has a place for one; they answer nobody who does not send it. */
  instanceKey?: string;
}

/**
 * What one look found out about **the generation that was asked for**:
 *
 * - `absent`: it was never started here. `provision` starts it.
 * - `starting`: it runs and has not been healthy yet.
 * - `ready`: it runs and answers its health probe (or missed fewer than `failureThreshold` in a row).
 * - `unhealthy`: it runs but misses its probes, or did not become ready in time.
 * - `stopping`: it was told to stop, or an older generation has to be gone first. Look again.
 * - `exited`: it ran and is over, by itself, by `terminate` or because a newer generation replaced it.
 *   Only the next generation starts again.
 */
export type ObservedState = 'absent' | 'starting' | 'ready' | 'unhealthy' | 'exited' | 'stopping';

export interface Observation {
  state: ObservedState;
  /** Where requests go, without a trailing slash: `http://127.0.0.1:20001`. Present while something runs. */
  baseUrl?: string;
  /**
   * Tells one life of the server from the next: a pid, or a pod and its restart count. Present while something runs. It changes
   * within a generation only if the target restarts by itself.
   */
  incarnation?: string;
  /** How often the target itself has restarted this generation. */
  restarts?: number;
  /** Why it is in this state, if the target can tell. */
  reason?: ObservationReason;
  /** One sentence for people. Control flow never reads it. */
  message?: string;
  /** An adopted server says that it has the revision's model. To be handed in again as `endpoint.isModelSeen`. */
  isModelSeen?: true;
  /** How the last life ended. `code` is null for a signal, or if nobody was there to see it; `at` is RFC 3339. */
  lastExit?: { code: number | null; reason?: ObservationReason; at?: string };
  /** Where it runs within the target, such as a node. */
  place?: string;
  /** What somebody else has changed of it on the target, for people; it runs on nevertheless. */
  drift?: string;
  /** Why this generation's start came to nothing, while it was never ready and is over. */
  failure?: StartFailure;
  /** How far it is, while it is starting and the target can tell. */
  progress?: StartProgress;
  /** The generation that was seen. Differs from the one asked for while an older one stops, or when a newer one exists. */
  generation?: number;
}

/** The models that a server says it has; or why it could not be learned, for people. */
export type ModelsAnswer = { names: string[] } | { unknown: string };

/** A rule that a spec breaks. `field` is a path of the API's revision spec: `runtime.args.ttft_ms`, `endpoint.base_url`. */
export interface InstanceSpecIssue {
  field: string;
  code: 'required' | 'unknown' | 'not_declared' | 'not_allowed' | 'invalid_value' | 'not_applicable';
  message: string;
}

/** How far a host is with what a start needs. `failed` is final for its `instanceId`. */
export type StartPreparation =
  { state: 'ready' } | { state: 'running'; progress: StartProgress } | { state: 'failed'; failure: StartFailure };

/** Something of an instance that the target still has. `incarnation` is missing when nothing of it runs any more. */
export interface InstanceRef {
  instanceId: string;
  generation: number;
  incarnation?: string;
}

/** Whether a target can be worked with at the moment. `message` says for operators what is missing, in one sentence. */
export interface TargetHealth {
  state: 'ok' | 'degraded';
  message?: string;
}

/** An engine as `GET /targets` shows it. */
export interface EngineDescription {
  name: string;
  /** What `runtime.args` and `runtime.env` of a revision may set. */
  args: string[];
  env: string[];
  /** The same arguments as they are declared. */
  declared?: EngineArg[];
  /** The template that it extends, as `llamacpp@1`; absent for one that the operator wrote. */
  template?: string;
}

/** What callers must know of the engine that a spec names. A target that adopts has a profile instead of a template. */
export interface EngineTraits {
  serves: EngineService[];
  unknownModel: UnknownModel;
  identity: IdentityProof[];
  /** How many accelerators it takes, and whether it bears others beside it on one. Absent: it uses none. */
  gpus?: { min: number; max: number; share: 'exclusive' | 'fraction' };
  /** How long the memory of its accelerators may take to come back after its end; 30 by default. */
  memoryFreeWithinSeconds?: number;
  /** To its first healthy answer. */
  readyTimeoutSeconds: number;
  /** Whether it refuses who does not send `instanceKey`. */
  isKeyed: boolean;
  /** How it is asked once it was ready, where a revision does not say. */
  live?: Partial<InstanceSpec['probe']>;
  /** Who lets requests under way end before a stop: the engine after its signal, or the gateways before it. */
  drain: 'engine' | 'gateway';
}

/** What an engine tells of the work that waits in it; null where it does not. */
export interface EngineLoad {
  /** Requests that it has taken and not begun. */
  waiting: number | null;
  /** Of the memory for keys and values, 0..1. */
  kvUsage: number | null;
}

/**
 * Makes instances run on one execution target. Every method may be called again after a crash and from
 * several processes at once; nothing is remembered that the next process would need.
 *
 * The caller's loop is: `provision` while the instance is wanted and `observe` says `absent`; `generation + 1`
 * after `exited`; `terminate` until it answers `gone` once the instance is no longer wanted.
 */
export interface TargetDriver {
  readonly kind: string;
  readonly name: string;
  /** True when instances exist without the driver: provision starts nothing and terminate stops nothing. */
  readonly adopts: boolean;
  /**
   * Who starts a server again that ended: the caller, by asking for the next generation, or the target, within the generation.
   */
  readonly restarts: 'caller' | 'target';
  /** Whether `observe` probes, so that its answers count misses by looks, or the target probes and `observe` tells what it found. */
  readonly probes: 'look' | 'target';
  /** Whether instances stay when this host goes down. Stopping the host's engines then leaves them alone. */
  readonly outlivesHost: boolean;
  /**
   * How it takes the operator's secrets that `runtime.env` of a revision names: their values, in `env`; where the target finds them, in
   * `envRefs`; or either, as the operator has declared each. Absent: values. It may change with the configuration.
   */
  readonly secrets?: 'resolved' | 'references' | 'both';
  /**
   * Makes ready for another configuration of this target and returns what then makes it hold, which cannot fail. What runs stays as it
   * was started, and is asked as then; what is started from then on is started as the new one says.
   * @throws TargetConfigError for one that it cannot work with; nothing has changed then
   */
  reconfigure(config: TargetConfig): () => void;
  /** The engines it can start; none if it adopts. */
  engines(): EngineDescription[];
  /** Every rule that the spec breaks; empty when it can be provisioned. Pure: no file, no network. */
  check(spec: InstanceSpec): InstanceSpecIssue[];
  /**
   * Starts this generation if it never was, and returns as soon as the start is recorded, not when it is ready.
   * While an older generation still runs it only begins to stop that one: call again after the next look.
   * @throws InvalidSpecError when `check` finds an issue; other errors are the host's and worth a retry.
   */
  provision(spec: InstanceSpec): Promise<void>;
  /**
   * What can be known and fetched before anything is started: whether the host has the program and the model's file, and the download of
   * one that a hub has. Call again while it is `running`; `instanceId` tells one wish from the next. Occupies nothing. Absent for a target
   * that starts nothing.
   */
  prepare?(spec: InstanceSpec): Promise<StartPreparation>;
  /**
   * One look, including one health probe. Never throws for what it sees, nor for a spec that `check` has come to refuse;
   * throws only when it cannot look.
   */
  observe(spec: InstanceSpec): Promise<Observation>;
  /** One health request now, beside `observe` and without a say in its counts. Never throws. */
  answers(spec: InstanceSpec, baseUrl: string): Promise<boolean>;
  /** What waits in an engine, asked once, in bounded time and memory; undefined where it does not tell. Never throws. */
  load?(spec: InstanceSpec, baseUrl: string): Promise<EngineLoad | undefined>;
  /**
   * Asks a server that was adopted which models it has: once, within the time of one probe, and in bounded memory. Never throws. The names
   * are the server's own words. Absent where the target starts its servers itself.
   */
  models?(spec: InstanceSpec): Promise<ModelsAnswer>;
  /**
   * Begins a graceful stop of every generation, kills what is left after the grace period, and returns whether
   * anything is left. `gone` for an id nobody knows. A terminated generation can never be started again.
   */
  terminate(instanceId: string): Promise<'stopping' | 'gone'>;
  /** What of this target exists and was not terminated completely, so that orphans can be found. */
  list(): Promise<InstanceRef[]>;
  /** Calls the listener when an instance may have changed. A caller looks less often at a target that has this. */
  onChange?(listener: (instanceId: string) => void): void;
  /** Of the engine or the profile that the spec names; undefined for an engine that it does not have. Pure. */
  traits?(spec: InstanceSpec): EngineTraits | undefined;
  /** What the operator should know of this target as it is configured, a sentence each; logged when it begins to hold. */
  warnings?(): string[];
  /** What is known by now of the target itself, without asking it: absent where a target cannot fail as a whole. */
  health?(): TargetHealth;
  /** The accelerators of this target's host, within 15 s, never throws; absent where the target knows of none. */
  devices?(): Promise<{ devices: Device[]; problem?: string }>;
  /** Output of an instance, as far as the target keeps it: bounded in memory, whatever an engine writes. */
  logs?(instanceId: string, options: LogOptions): AsyncIterable<LogLine>;
  /** Releases timers and connections of this object. Instances go on running. */
  close(): Promise<void>;
}

/** Thrown by `provision` for a spec that `check` refuses. */
export class InvalidSpecError extends Error {
  constructor(readonly issues: InstanceSpecIssue[]) {
    super(issues.map((issue) => `${issue.field}: ${issue.message}`).join('; '));
    this.name = 'InvalidSpecError';
  }
}

/** Thrown by a driver's constructor for a target that the operator configured wrongly; lists every problem. */
export class TargetConfigError extends Error {
  constructor(
    readonly target: string,
    readonly problems: string[],
  ) {
    super(`execution target "${target}": ${problems.join('; ')}`);
    this.name = 'TargetConfigError';
  }
}

/** @throws InvalidSpecError */
export function assertSpec(driver: TargetDriver, spec: InstanceSpec): void {
  const issues = driver.check(spec);
  if (issues.length > 0) throw new InvalidSpecError(issues);
}

/** What a driver may use of its process. */
export interface DriverHost {
  /** SLIPWAY_HOME, absolute; every worker of the host shares it. */
  home: string;
  /** The worker's PATH, on which programs of the host are looked for. */
  path?: string;
  /** Ports of this machine that no connection may lead to. */
  ownPorts: readonly number[];
  /** Whether this process starts and stops instances; absent: it does. The api only asks and checks. */
  starts?: boolean;
  /** The value of one of the operator's secrets, read now. @throws Error naming it, never its value, where it has none */
  secret(name: string): string;
  /** The UUID of this installation, written into its database once: tells its objects from those of another one beside it. */
  installation?(): Promise<string>;
  /** Named points at which a test may hold or kill the process. */
  pausePoint(name: string): Promise<void>;
}

/**
 * A kind of execution target: how the operator's file describes one, and what runs it. A new kind is a folder of `libs/targets`
 * that exports one of these, its conformance test, and a line in `libs/registry/src/targets.ts`.
 */
export interface TargetKind extends TargetReader {
  /** @throws TargetConfigError for a target that the driver cannot work with; the operator's file is refused then */
  createDriver(config: TargetConfig, host: DriverHost): TargetDriver;
}

/** Nest token of the kinds there are: `@Inject(TARGET_KINDS) kinds: readonly TargetKind[]`. */
export const TARGET_KINDS = Symbol('TargetKinds');
