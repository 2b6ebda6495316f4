import type { ModelSpec, ObservationReason, RevisionSpec } from '@slipway/contracts';

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
  /** Whose it is, for names and labels. Absent if a spec is only checked. */
  owner?: { tenantId: string; deploymentId: string; revisionId: string; revisionName: string; ordinal: number };
  model: ModelSpec;
  resources?: RevisionSpec['resources'];
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
  endpoint?: { baseUrl: string; healthPath: string; credential?: string };
  /**
   * `path` overrides the health path of the engine or endpoint. `timeoutSeconds` bounds one probe,
   * `failureThreshold` is the number of failed probes in a row that turns ready into unhealthy.
   * `intervalSeconds` is the caller's pace of `observe`; drivers start no timer for it.
   */
  probe: { path?: string; intervalSeconds: number; timeoutSeconds: number; failureThreshold: number };
  /** Seconds an instance may take to its first healthy probe before it counts as unhealthy. */
  readyTimeoutSeconds?: number;
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
export type InstanceState = 'absent' | 'starting' | 'ready' | 'unhealthy' | 'exited' | 'stopping';

export interface Observation {
  state: InstanceState;
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
  /** How the last life ended. `code` is null for a signal, or if nobody was there to see it; `at` is RFC 3339. */
  lastExit?: { code: number | null; reason?: ObservationReason; at?: string };
  /** Where it runs within the target, such as a node. */
  place?: string;
  /** The generation that was seen. Differs from the one asked for while an older one stops, or when a newer one exists. */
  generation?: number;
}

/** A rule that a spec breaks. `field` is a path of the API's revision spec: `runtime.args.ttft_ms`, `endpoint.base_url`. */
export interface SpecIssue {
  field: string;
  code: 'required' | 'unknown' | 'not_declared' | 'not_allowed' | 'invalid_value' | 'not_applicable';
  message: string;
}

/** Something of an instance that the target still has. `incarnation` is missing when nothing of it runs any more. */
export interface InstanceRef {
  instanceId: string;
  generation: number;
  incarnation?: string;
}

/** An engine as `GET /targets` shows it. */
export interface EngineDescription {
  name: string;
  /** What `runtime.args` and `runtime.env` of a revision may set. */
  args: string[];
  env: string[];
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
  /** The engines it can start; none if it adopts. */
  engines(): EngineDescription[];
  /** Every rule that the spec breaks; empty when it can be provisioned. Pure: no file, no network. */
  check(spec: InstanceSpec): SpecIssue[];
  /**
   * Starts this generation if it never was, and returns as soon as the start is recorded, not when it is ready.
   * While an older generation still runs it only begins to stop that one: call again after the next look.
   * @throws InvalidSpecError when `check` finds an issue; other errors are the host's and worth a retry.
   */
  provision(spec: InstanceSpec): Promise<void>;
  /**
   * One look, including one health probe. Never throws for what it sees, nor for a spec that `check` has come to refuse;
   * throws only when it cannot look.
   */
  observe(spec: InstanceSpec): Promise<Observation>;
  /** One health request now, beside `observe` and without a say in its counts. Never throws. */
  answers(spec: InstanceSpec, baseUrl: string): Promise<boolean>;
  /**
   * Begins a graceful stop of every generation, kills what is left after the grace period, and returns whether
   * anything is left. `gone` for an id nobody knows. A terminated generation can never be started again.
   */
  terminate(instanceId: string): Promise<'stopping' | 'gone'>;
  /** What of this target exists and was not terminated completely, so that orphans can be found. */
  list(): Promise<InstanceRef[]>;
  /** Calls the listener when an instance may have changed. A caller looks less often at a target that has this. */
  onChange?(listener: (instanceId: string) => void): void;
  /** The last lines of an instance's output, as far as the target keeps it. */
  tail?(
    instanceId: string,
    options: { lines: number; maxBytes: number; previous?: boolean; follow?: boolean },
  ): AsyncIterable<Buffer>;
  /** Releases timers and connections of this object. Instances go on running. */
  close(): Promise<void>;
}

/** Thrown by `provision` for a spec that `check` refuses. */
export class InvalidSpecError extends Error {
  constructor(readonly issues: SpecIssue[]) {
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
