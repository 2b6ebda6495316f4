import type { Histogram } from '../statistics/histogram.js';
import type { Histograms, RequestStats } from '../statistics/stats.query.js';

export interface ServiceRecord {
  at: Date;
  seconds: 60 | 3600;
  gateways: number;
  instances: number;
  stats: RequestStats;
  starting: Histograms;
  arrivals: number;
  sessionArrivals: number;
  held: Histogram;
  refused: number;
  inputTokens: Histogram;
  outputTokens: Histogram;
  kvUsage: number | null;
  waiting: number | null;
}
export interface ArrivalCount {
  at: Date;
  seconds: number;
  count: number;
}
