import type { ByteBounds } from '@slipway/platform-bounds';
import type { HoldBounds } from './holds/hold-shares.js';

/**
 * Limits and times of one gateway. All have defaults; tests shorten times, and entry points pass the configured values.
 */
export interface GatewaySettings {
  /** Most bytes of a request body; an answer that is passed on has no limit. */
  maxBodyBytes: number;
  /** Bytes of bodies in flight, and of answers that must be kept whole. */
  maxHeldBytes: ByteBounds;
  /** Limits on requests that wait while their deployment is being replaced. */
  hold: HoldBounds;
  /** Request line and headers together. */
  maxHeaderBytes: number;
  /** Per token, as a token bucket that may be emptied at once; 0 turns it off. */
  requestsPerMinute: number;
  /** Requests in flight per token; 0 turns it off. */
  maxConcurrencyPerToken: number;
  /** The same limits for all tokens of a tenant together, by the tenant's name. */
  limitsOfTenant: (tenantName: string) => { requestsPerMinute: number; maxConcurrency: number };
  /** Requests in flight in this process; beyond that, new ones are refused with `retry-after`. */
  maxConcurrency: number;
  /** Clients' headers that engines of deployments get, in addition to those that every engine needs; in lower case. */
  passedHeaders: readonly string[];
  /** Origins whose pages may call the gateway from a browser. */
  corsOrigins: readonly string[];
  connectTimeoutMs: number;
  /**
   * How long an unused connection to an instance is kept: less than the 5 s after which Python servers close theirs.
   */
  idleTimeoutMs: number;
  /** From request to head of the answer: a long completion without streaming sends nothing until it is done. */
  headTimeoutMs: number;
  /** Longest silence between two chunks of an answer. */
  silenceTimeoutMs: number;
  /** The same, if the node of the instance does not respond and another instance is ready. */
  lostSilenceMs: number;
  /** Attempts on instances of the drawn revision, including the first. */
  maxAttempts: number;
  /**
   * Consecutive failures that eject an instance, and for how long: the time doubles with each ejection, up to `mostMs`.
   */
  ejection: { failures: number; baseMs: number; mostMs: number };
  /** Bindings of sessions that are kept in memory. */
  maxSessions: number;
  /** How often the versions of everything published are compared, whatever notifications arrived. */
  refreshMs: number;
  /** Shortest time between two reports to Postgres. */
  reportMs: number;
  /** A request in flight to a leaving instance is reported as silent after this long without a byte. */
  silentAfterMs: number;
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
  corsOrigins: [],
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
  silentAfterMs: 30_000,
  drainMs: 600_000,
};
