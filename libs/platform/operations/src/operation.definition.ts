import { DiscoveryService } from '@nestjs/core';
import type { Tx } from '@slipway/platform-database';
import type { NewEvent } from './event.store.js';
import type { OperationRow } from './operation.row.js';

/** The stored reasons why an operation ends `failed` or `cancelled`. */
export type FailureCode =
  | 'validation_failed'
  | 'target_not_ready'
  | 'analysis_failed'
  | 'analysis_inconclusive'
  | 'metrics_unavailable'
  | 'health_regression'
  | 'capacity_exhausted'
  | 'routing_error'
  | 'dependency_outage'
  | 'superseded'
  | 'cancelled_by_user'
  | 'attempts_exhausted'
  | 'internal';

export interface Failure {
  code: FailureCode;
  message: string;
  retryable: boolean;
}

/** Thrown by a step that can never succeed: the operation unwinds and ends `failed` with this code, without more attempts. */
export class StepFailed extends Error {
  constructor(
    readonly code: FailureCode,
    message: string,
    /** `evidence` is kept with the step; `result` is merged into the operation's. */
    readonly options: { retryable?: boolean; evidence?: unknown; result?: Record<string, unknown> } = {},
  ) {
    super(message);
  }
}

/** What a step is given. `results` holds what earlier steps committed, by step name. */
export interface StepContext<Input> {
  operation: OperationRow<Input>;
  input: Input;
  results: Record<string, any>;
  /** The full name, such as `soak:2`, and the number behind the colon (0 where there is none). */
  step: { name: string; number: number; startedAt: Date };
  /** What this step's last `sleep` kept. */
  state: Record<string, any> | null;
  /** True once a person has resumed this step. */
  resumed: boolean;
  /** Aborted when the lease is lost or a cancel was asked for. */
  signal: AbortSignal;
  /** The idempotency key for an effect outside of Postgres. */
  effectKey: string;
}

/** The effect of a step in Postgres, run in the transaction that also commits the step. Lock the deployment in it first. */
export type StepCommit = (tx: Tx) => Promise<void | { events?: NewEvent[] }>;

export type StepOutcome =
  | {
      kind: 'done';
      result?: unknown;
      evidence?: unknown;
      message?: string;
      skipped?: boolean;
      operationResult?: Record<string, unknown>;
      commit?: StepCommit;
    }
  | {
      kind: 'sleep';
      /** Milliseconds until the step runs again; undefined = until something wakes it. */
      forMs?: number;
      /** `waiting` = a soak, a pause or a human; `running` = the step merely looks again later. */
      status: 'running' | 'waiting';
      awaiting?: 'approval' | 'pause';
      message?: string;
      state?: Record<string, unknown>;
      commit?: StepCommit;
    };

export const done = (options: Omit<Extract<StepOutcome, { kind: 'done' }>, 'kind'> = {}): StepOutcome => ({
  kind: 'done',
  ...options,
});

/** Gives the worker slot back; the operation sleeps in Postgres. */
export const sleep = (options: Omit<Extract<StepOutcome, { kind: 'sleep' }>, 'kind'>): StepOutcome => ({
  kind: 'sleep',
  ...options,
});

export interface Step<Input> {
  run(context: StepContext<Input>): Promise<StepOutcome>;
}

/** A step of the way back. It must be safe whatever the forward steps did, also when they did nothing. */
export interface UnwindStep<Input> extends Step<Input> {
  name: string;
  /** The forward steps (without `:n`) that it undoes; they return to `pending`, so that a retry runs them again. */
  undoes: readonly string[];
}

export type Outcome = 'succeeded' | 'failed' | 'cancelled';

/**
 * A durable operation: ordered steps forward, the way back, and what belongs to its end. Steps may run twice, so each
 * is repeatable; writes belong into `commit`, which happens exactly once.
 */
export interface OperationDefinition<Input = any> {
  readonly kind: string;
  /** By base name: `soak` runs `soak:1`, `soak:2`, … */
  readonly steps: Record<string, Step<Input>>;
  readonly unwind: readonly UnwindStep<Input>[];
  /** After this step's commit the operation can no longer be cancelled. */
  readonly pointOfNoReturn?: string;
  /** Event type to append at each step's commit, such as `rollout.step_advanced`. */
  readonly stepEvent?: string;
  /** Runs in the transaction of the terminal status. Returns what to merge into `result` and events to append. */
  finish?(
    tx: Tx,
    operation: OperationRow<Input>,
    outcome: Outcome,
    failure?: Failure,
  ): Promise<{ result?: Record<string, unknown>; events?: NewEvent[] } | void>;
  /** Runs in the transaction of a retry, and throws (409) when the operation may not live again. */
  reclaim?(tx: Tx, operation: OperationRow<Input>): Promise<void>;
  /** Runs once in the transaction that begins the way back, before any unwind step. */
  beginUnwind?(tx: Tx, operation: OperationRow<Input>, failure: Failure): Promise<void>;
}

/** Marks a provider as the definition of one operation kind; both processes check at boot that each kind has exactly one. */
export const DurableOperation = DiscoveryService.createDecorator<string>();
