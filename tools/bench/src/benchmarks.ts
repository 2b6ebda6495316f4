import { backends } from './benchmarks/backends.js';
import { eventPages } from './benchmarks/event-pages.js';
import { gateway } from './benchmarks/gateway.js';
import { operations } from './benchmarks/operations.js';
import { reads } from './benchmarks/reads.js';
import { rolloutStart } from './benchmarks/rollout-start.js';
import { watchers } from './benchmarks/watchers.js';
import { writes } from './benchmarks/writes.js';
import type { Stand } from './stand.js';

/** One line of the table. Rates are per second, times in milliseconds; `ratio` is ours to the limit of the same run. */
export interface Finding {
  name: string;
  ours: string;
  limit: string;
  ratio: string;
  notes: string;
}

export type Benchmark = (stand: Stand) => Promise<Finding[]>;

export const BENCHMARKS: Record<string, Benchmark> = {
  reads,
  writes,
  operations,
  'rollout-start': rolloutStart,
  gateway,
  backends,
  'event-pages': eventPages,
  watchers,
};
