import { backends } from './benchmarks/backends.js';
import { eventPages } from './benchmarks/event-pages.js';
import { gateway } from './benchmarks/gateway.js';
import { operations, operationsOnRedis } from './benchmarks/operations.js';
import { reads } from './benchmarks/reads.js';
import { rolloutStart } from './benchmarks/rollout-start.js';
import { watchers } from './benchmarks/watchers.js';
import { writes } from './benchmarks/writes.js';
import type { Finding } from './finding.js';
import type { Stand } from './stand.js';

export type Benchmark = (stand: Stand) => Promise<Finding[]>;

export const BENCHMARKS: Record<string, Benchmark> = {
  reads,
  writes,
  operations,
  'operations-redis': operationsOnRedis,
  'rollout-start': rolloutStart,
  gateway,
  backends,
  'event-pages': eventPages,
  watchers,
};
