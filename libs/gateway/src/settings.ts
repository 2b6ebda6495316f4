import type { ByteBounds } from '@slipway/platform-bounds';
import type { HoldBounds } from './holds/hold-shares.js';

/** Limits and times of one gateway. Everything has a default; tests shorten times, entry points pass what configuration knows. */
export interface GatewaySettings {
  /** Of a request; an answer that is passed on is not bounded. */
  maxBodyBytes: number;
  /** Bytes of bodies in flight, and of answers that must be kept whole. */
  maxHeldBytes: ByteBounds;
  /** Requests that wait while their deployment is being replaced. */
  hold: HoldBounds;
  /** Request line and headers together. */
  maxHeaderBytes: number;
  /** Per token, as a token bucket that may be emptied at once; 0 = off. */
  requestsPerMinute: number;
  /** Requests in flight per token; 0 = off. */
  maxConcurrencyPerToken: number;
  /** The same for all tokens of a tenant together, by its name. */
  limitsOfTenant: (tenantName: string) => { requestsPerMinute: number; maxConcurrency: number };
  /** Requests in flight in this process: beyond it, new ones are told to come back. */
  maxConcurrency: number;
  /** Clients' headers that engines of deployments get, beside those that every engine needs; lower case. */
  passedHeaders: readonly string[];
  connectTimeoutMs: number;
  /** How long a connection to an instance is kept that nothing is sent on: below the 5 s after which servers in Python close theirs. */
  idleTimeoutMs: number;
  /** From the request to the head of the answer: a long completion without streaming says nothing until it is done. */
  headTimeoutMs: number;
  /** Between two chunks of an answer. */
  silenceTimeoutMs: number;
  /** The same where the node of the instance does not answer, and another instance is ready. */
  lostSilenceMs: number;
  /** Tries on instances of the drawn revision, the first included. */
  maxAttempts: number;
  /** Consecutive failures that take an instance out, and for how long: doubled each time, up to the most. */
  ejection: { failures: number; baseMs: number; mostMs: number };
  /** Bindings of sessions kept in memory. */
  maxSessions: number;
  /** How often the versions of everything published are compared, whatever notifications said. */
  refreshMs: number;
  /** Shortest time between two reports to Postgres. */
  reportMs: number;
  /** Longest wait for requests in flight at shutdown. */
  drainMs: number;
}

export const DEFAULT_SETTINGS: GatewaySettings = {
  maxBodyBytes: 32 * 1024 * 1024,
  maxHeldBytes: { process: 512 * 1024 * 1024, tenant: 256 * 1024 * 1024, token: 128 * 1024 * 1024 },
  hold: { maxRequests: 1_000, maxBytes: 64 * 1024 * 1024 },
  maxHeaderBytes: 16 * 1024,
  requestsPerMinute: 600_000,
  maxConcurrencyPerToken: 1_000,
  limitsOfTenant: () => ({ requestsPerMinute: 2_400_000, maxConcurrency: 4_000 }),
  maxConcurrency: 10_000,
  passedHeaders: [],
  connectTimeoutMs: 2_000,
  idleTimeoutMs: 4_000,
  headTimeoutMs: 600_000,
  silenceTimeoutMs: 300_000,
  lostSilenceMs: 10_000,
  maxAttempts: 3,
  ejection: { failures: 5, baseMs: 1_000, mostMs: 30_000 },
  maxSessions: 100_000,
  refreshMs: 1_000,
  reportMs: 200,
  drainMs: 25_000,
};
