/** One wake-up of an operation. It carries no state: the operations table says what to do. */
export interface WakeUp {
  operationId: string;
  /** Counts the dispatches of this operation. Adding the same pair twice while the first is kept makes one wake-up. */
  dispatch: number;
  /** Milliseconds to hold the wake-up back. If it is missing or 0, the wake-up is delivered at once. */
  delayMs?: number;
}

/**
 * Called for every wake-up, at least once, perhaps twice at a time. It must check in Postgres whether there is anything
 * to do.
 */
export type WakeUpHandler = (operationId: string) => Promise<void>;

/**
 * Wakes workers. It may lose everything it holds, because a worker polls once a second for what is due
 * (`OperationWorker`).
 */
export interface OperationQueue {
  /**
   * Adds a wake-up; never hangs.
   * @throws QueueUnavailableError within a few seconds while the backend is down
   */
  add(job: WakeUp): Promise<void>;
  /**
   * Starts handing wake-ups to `handler`, at most `concurrency` at a time in this process. Resolves at once, even while
   * the backend is down. If the handler throws, the error is logged and the handler is not called again for that
   * wake-up. Call it once per process.
   */
  consume(handler: WakeUpHandler, concurrency: number): Promise<void>;
  /** Whether the backend answered the last probe and, after `consume`, the worker takes wake-ups. */
  ready(): boolean;
  /** Takes no more wake-ups, waits up to a limit for running handlers, and disconnects. */
  close(): Promise<void>;
}

/** Nest token of the process's OperationQueue. */
export const OPERATION_QUEUE = Symbol('OPERATION_QUEUE');

/** The backend did not accept the wake-up. Add it again later. */
export class QueueUnavailableError extends Error {
  override readonly name = 'QueueUnavailableError';
}
