/**
 * The order in which every transaction takes row and advisory locks that several areas share. Whoever takes them in this order
 * cannot deadlock with anybody who does. A statement that takes one says so (`locking`), and in tests a transaction that goes
 * back in the list fails.
 *
 * What is not in the list is locked by one area only, which keeps an order of its own.
 */
export const LOCK_ORDER = [
  /** An Idempotency-Key: its request waits here for the one before. */
  'idempotency_key',
  /** The first lock of everything that changes a deployment. */
  'deployment',
  /** Decisions about a plan take turns. */
  'plan',
  /** A quota of a tenant: who adds to it counts after the one before. */
  'quota',
  /** What should run of a revision: holds, and the reconciler's changes. */
  'workload',
  /** The row of a durable operation: a commit of its worker, a cancel, a retry. */
  'operation',
  /** The end of an event stream. Always last, because the sequence it gives must become visible in commit order. */
  'event_stream',
] as const;

export type Lock = (typeof LOCK_ORDER)[number];
