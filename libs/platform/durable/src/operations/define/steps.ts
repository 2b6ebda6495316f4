import type { FailureCode, TerminalStatus, WaitingFor } from '@slipway/contracts';
import type { Tx } from '@slipway/platform-database';
import type { Principal } from '@slipway/platform-http';
import type { NewEvent } from '../../events/index.js';
import type { OperationFailure, OperationRow } from '../operation.row.js';
import type { InputOf, OperationDefinition, StepBase, UnwindName } from './operation.definition.js';

/**
 * A step throws this if it can never succeed: the operation unwinds and ends `failed` with this code, without more
 * attempts.
 */
export class StepFailed extends Error {
  readonly code: string;

  constructor(
    { code }: FailureCode,
    message: string,
    /**
     * `evidence` is kept with the step; `result` is merged into the operation's result. `stepMessage` is what the step
     * says in place of the message, which the operation has.
     */
    readonly options: {
      retryable?: boolean;
      stepMessage?: string;
      evidence?: unknown;
      result?: Record<string, unknown>;
    } = {},
  ) {
    super(message);
    this.code = code;
  }
}

/** The argument of a step. `results` contains the committed results of earlier steps, by step name. */
export interface StepContext<Input> {
  operation: OperationRow<Input>;
  input: Input;
  results: Record<string, unknown>;
  /** The full name, such as `soak:2`, and the number after the colon (0 if there is none). */
  step: {
    name: string;
    number: number;
    /** The time of Postgres's clock. Compare it only with other times from Postgres. */
    startedAt: Date;
    /**
     * Milliseconds since then, without the time for which the operation was paused. Postgres measures them up to the read
     * of the row, and a monotonic clock after that.
     */
    elapsedMs(): number;
  };
  /** The state that this step's last `sleep` kept. */
  state: Record<string, unknown> | null;
  /** True once a person has resumed this step. */
  resumed: boolean;
  /** Aborted when the lease is lost or a cancel is requested. */
  signal: AbortSignal;
  /** The idempotency key for an effect outside of Postgres. */
  effectKey: string;
}

/**
 * The effect of a step in Postgres. It runs in the transaction that also commits the step. It must lock the deployment
 * first.
 */
export type StepCommit = (tx: Tx) => Promise<void | { events?: NewEvent[] }>;

/** The step is complete. */
export interface StepDone {
  kind: 'done';
  result?: unknown;
  evidence?: unknown;
  message?: string;
  skipped?: boolean;
  operationResult?: Record<string, unknown>;
  commit?: StepCommit;
}

/** The step gives the worker's slot back and runs again later; the operation sleeps in Postgres. */
export interface StepSleep {
  kind: 'sleep';
  /** Milliseconds until the step runs again. If undefined, it sleeps until it is woken. */
  forMs?: number;
  /** `running` is for a step that only polls again later. */
  status: 'running' | 'waiting';
  /** The reason why it waits. Without `forMs`, only a person can continue it. */
  waitingFor?: WaitingFor;
  message?: string;
  state?: Record<string, unknown>;
  commit?: StepCommit;
}

export type StepOutcome = StepDone | StepSleep;

export const done = (options: Omit<StepDone, 'kind'> = {}): StepOutcome => ({ kind: 'done', ...options });
export const sleep = (options: Omit<StepSleep, 'kind'>): StepOutcome => ({ kind: 'sleep', ...options });

/**
 * A step may run twice, so it must be repeatable. Its writes to Postgres belong in the outcome's `commit`, which
 * happens exactly once. An undo step must also be safe whatever the forward steps did, even if they did nothing.
 */
export type Step<Input> = (context: StepContext<Input>) => Promise<StepOutcome>;

export type OperationOutcome = TerminalStatus;

/** A person's request to a running operation. */
export interface ControlRequest {
  action: 'promote' | 'resume';
  /** Whether all later steps are to be passed as well. */
  isFull: boolean;
  principal: Principal;
}

/** The implementation of an operation: a function for every step of its definition, and callbacks for its end. */
export interface OperationOf<D extends OperationDefinition> {
  readonly steps: { readonly [Name in StepBase<D>]: Step<InputOf<D>> };
  readonly unwind: { readonly [Name in UnwindName<D>]: Step<InputOf<D>> };
  /**
   * Runs in the transaction of the terminal status. It returns what to merge into `result`, the events to append, and
   * the message of a succeeded operation if the message of its last step is not suitable.
   */
  finish?(
    tx: Tx,
    operation: OperationRow<InputOf<D>>,
    outcome: OperationOutcome,
    failure?: OperationFailure,
  ): Promise<{ result?: Record<string, unknown>; message?: string; events?: NewEvent[] } | void>;
  /**
   * Runs in the transaction of a retry. It returns changes of the input.
   * @throws a 409 error if the operation may not run again
   */
  reclaim?(tx: Tx, operation: OperationRow<InputOf<D>>): Promise<Partial<InputOf<D>> | void>;
  /**
   * Runs in the transaction of a request that promotes or resumes the operation, under its lock.
   * @throws an error of the API if the person may not do that
   */
  assertMay?(tx: Tx, operation: OperationRow<InputOf<D>>, request: ControlRequest): Promise<void>;
  /** Runs in the commit with which a pause holds the operation before a step. It returns the events to append. */
  atPause?(tx: Tx, operation: OperationRow<InputOf<D>>, step: string): Promise<NewEvent[]>;
  /** Runs once in the transaction that begins the unwind, before any undo step. */
  beginUnwind?(tx: Tx, operation: OperationRow<InputOf<D>>, failure: OperationFailure): Promise<void>;
}
