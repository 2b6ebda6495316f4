import { emptyHistogram, type Histogram } from '../statistics/histogram.js';
import { emptyLoads } from '../statistics/load.js';
import { emptyCounts, histogramsOf, type Histograms, type RequestStats } from '../statistics/stats.query.js';

/** Length of a record: a minute or an hour. */
export type RecordSeconds = 60 | 3600;

/** The requests that ended on a revision or arrived for it within one minute or one hour, over all gateways. */
export interface ServiceRecord {
  /** Start, a whole minute or hour by the clock of Postgres. */
  at: Date;
  seconds: RecordSeconds;
  /** Gateways that reported something in it; of an hour, the most of one minute. */
  gateways: number;
  /** Ready instances, the most that a gateway chose from. */
  instances: number;
  /** Without slices, callers and waits. `loads` lacks the requests of starting instances; the histograms have them. */
  stats: RequestStats;
  /** The part of `stats` of an instance's first minute or first 100 requests, the longer of the two. */
  starting: Histograms;
  /** Requests for the revision, counted when they came. Retries are not counted again. */
  arrivals: number;
  /** The part of `arrivals` that a session bound to an instance. */
  sessionArrivals: number;
  /** Milliseconds that requests were held, only of those that were held. If they gave up, at least so long. */
  held: Histogram;
  /** Requests refused because no instance could be had: none was ready, or they were held in vain. */
  refused: number;
  /** Tokens of successful requests. */
  inputTokens: Histogram;
  outputTokens: Histogram;
  /** Largest share (0..1) of its KV cache that an engine reported in use; null if none reported it. */
  kvUsage: number | null;
  /** Most requests that an engine reported to wait in it; null if none reported it. */
  waiting: number | null;
}

/** Requests that came within one minute. */
export interface ArrivalCount {
  at: Date;
  seconds: number;
  count: number;
}

export function emptyRecord(at: Date, seconds: RecordSeconds): ServiceRecord {
  return {
    at,
    seconds,
    gateways: 0,
    instances: 0,
    stats: {
      counts: emptyCounts(),
      streamed: 0,
      tokens_in: 0,
      tokens_out: 0,
      ...histogramsOf(() => emptyHistogram()),
      loads: emptyLoads(),
    },
    starting: histogramsOf(() => emptyHistogram()),
    arrivals: 0,
    sessionArrivals: 0,
    held: emptyHistogram(),
    refused: 0,
    inputTokens: emptyHistogram(),
    outputTokens: emptyHistogram(),
    kvUsage: null,
    waiting: null,
  };
}
