/** One wake-up of an operation. It carries no truth: the operations table says what is to be done. */
export interface WakeUp {
  operationId: string;
  /** Counts the dispatches of this operation. Adding the same pair twice while the first is kept is one wake-up. */
  dispatch: number;
  /** Milliseconds to hold the wake-up back. Absent or 0: at once. */
  delayMs?: number;
}

/** Called for every wake-up, at least once, perhaps twice at a time: it must ask Postgres whether there is anything to do. */
export type WakeUpHandler = (operationId: string) => Promise<void>;

/**
 * Wakes workers. It may lose everything it holds: a worker looks by itself for what is due once a second
 * (`operation.worker.ts` in platform/operations).
 */
export interface OperationQueue {
  /** Rejects with QueueUnavailableError within a few seconds while the backend is away; never hangs. */
  add(job: WakeUp): Promise<void>;
  /**
   * Starts handing wake-ups to `handler`, at most `concurrency` at a time in this process. Resolves at once, also while the
   * backend is away. A handler that throws is logged and not called again for that wake-up. Once per process.
   */
  consume(handler: WakeUpHandler, concurrency: number): Promise<void>;
  /** Whether the backend answered the last probe and, after `consume`, wake-ups are being taken. */
  ready(): boolean;
  /** Takes nothing more, waits for running handlers up to a bound, disconnects. */
  close(): Promise<void>;
}

/** Nest token of the process's OperationQueue. */
export const OPERATION_QUEUE = Symbol('OPERATION_QUEUE');

/** The backend did not take the wake-up. Add it again later. */
export class QueueUnavailableError extends Error {
  override readonly name = 'QueueUnavailableError';
}
