import { backends } from './benchmarks/backends.js';
import { eventPages } from './benchmarks/event-pages.js';
import { gateway } from './benchmarks/gateway.js';
import { getCosts } from './benchmarks/get-costs.js';
import { growth } from './benchmarks/growth.js';
import { idle } from './benchmarks/idle.js';
import { operations, operationsOnRedis } from './benchmarks/operations.js';
import { peersDurable } from './benchmarks/peers-durable.js';
import { peersGateway } from './benchmarks/peers-gateway.js';
import { reads } from './benchmarks/reads.js';
import { rolloutStart } from './benchmarks/rollout-start.js';
import { soaking } from './benchmarks/soaking.js';
import { watchers } from './benchmarks/watchers.js';
import { writes } from './benchmarks/writes.js';
import type { Finding } from './finding.js';
import type { Stand } from './stand.js';

export type Benchmark = (stand: Stand) => Promise<Finding[]>;

export const BENCHMARKS: Record<string, Benchmark> = {
  idle,
  reads,
  'get-costs': getCosts,
  writes,
  operations,
  'operations-redis': operationsOnRedis,
  'rollout-start': rolloutStart,
  gateway,
  backends,
  'event-pages': eventPages,
  watchers,
  soaking,
  growth,
};

/** Run only with `--peers`, because their packages come from registries. */
export const PEER_BENCHMARKS: Record<string, Benchmark> = {
  'peers-durable': peersDurable,
  'peers-gateway': peersGateway,
};
