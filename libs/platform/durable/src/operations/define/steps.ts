import type { FailureCode, TerminalStatus } from '@slipway/contracts';
import type { Tx } from '@slipway/platform-database';
import type { NewEvent } from '../../events/index.js';
import type { OperationFailure, OperationRow } from '../operation.row.js';
import type { InputOf, OperationDefinition, StepBase, UnwindName } from './operation.definition.js';

/** Thrown by a step that can never succeed: the operation unwinds and ends `failed` with this code, without more attempts. */
export class StepFailed extends Error {
  readonly code: string;

  constructor(
    { code }: FailureCode,
    message: string,
    /** `evidence` is kept with the step; `result` is merged into the operation's. */
    readonly options: { retryable?: boolean; evidence?: unknown; result?: Record<string, unknown> } = {},
  ) {
    super(message);
    this.code = code;
  }
}

/** What a step is given. `results` holds what earlier steps committed, by step name. */
export interface StepContext<Input> {
  operation: OperationRow<Input>;
  input: Input;
  results: Record<string, unknown>;
  /** The full name, such as `soak:2`, and the number behind the colon (0 if there is none). */
  step: {
    name: string;
    number: number;
    /** By the clock of Postgres, and so to be compared with times of Postgres only. */
    startedAt: Date;
    /** Milliseconds since then. Measured there and, since the row was read, by a clock that nobody sets. */
    elapsedMs(): number;
  };
  /** What this step's last `sleep` kept. */
  state: Record<string, unknown> | null;
  /** True once a person has resumed this step. */
  resumed: boolean;
  /** Aborted when the lease is lost or a cancel was asked for. */
  signal: AbortSignal;
  /** The idempotency key for an effect outside of Postgres. */
  effectKey: string;
}

/** The effect of a step in Postgres, run in the transaction that also commits the step. Lock the deployment in it first. */
export type StepCommit = (tx: Tx) => Promise<void | { events?: NewEvent[] }>;

/** The step is over. */
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
  /** Milliseconds until the step runs again; undefined = until something wakes it. */
  forMs?: number;
  /** `waiting` = a soak, a pause or a human; `running` = the step merely looks again later. */
  status: 'running' | 'waiting';
  awaiting?: 'approval' | 'pause';
  message?: string;
  state?: Record<string, unknown>;
  commit?: StepCommit;
}

export type StepOutcome = StepDone | StepSleep;

export const done = (options: Omit<StepDone, 'kind'> = {}): StepOutcome => ({ kind: 'done', ...options });
export const sleep = (options: Omit<StepSleep, 'kind'>): StepOutcome => ({ kind: 'sleep', ...options });

/**
 * A step may run twice, so it is repeatable; what it writes belongs into the outcome's `commit`, which happens exactly once.
 * A step of the way back must besides be safe whatever the forward steps did, also when they did nothing.
 */
export type Step<Input> = (context: StepContext<Input>) => Promise<StepOutcome>;

export type OperationOutcome = TerminalStatus;

/** What an operation does: a body for every step of its definition, and what belongs to its end. */
export interface OperationOf<D extends OperationDefinition> {
  readonly steps: { readonly [Name in StepBase<D>]: Step<InputOf<D>> };
  readonly unwind: { readonly [Name in UnwindName<D>]: Step<InputOf<D>> };
  /**
   * Runs in the transaction of the terminal status. Returns what to merge into `result`, events to append, and the message of an operation
   * that succeeded where its last step's does not do.
   */
  finish?(
    tx: Tx,
    operation: OperationRow<InputOf<D>>,
    outcome: OperationOutcome,
    failure?: OperationFailure,
  ): Promise<{ result?: Record<string, unknown>; message?: string; events?: NewEvent[] } | void>;
  /**
   * Runs in the transaction of a retry. Returns what changes in the input, and throws (409) if the operation may not live
   * again.
   */
  reclaim?(tx: Tx, operation: OperationRow<InputOf<D>>): Promise<Partial<InputOf<D>> | void>;
  /** Runs once in the transaction that begins the way back, before any of its steps. */
  beginUnwind?(tx: Tx, operation: OperationRow<InputOf<D>>, failure: OperationFailure): Promise<void>;
}
