import {
  addedCounts,
  mergeHistograms,
  quantile,
  requestFailures,
  type AttemptCounts,
  type RequestStats,
} from '@slipway/dataplane';
import type { CatalogEntryDto } from './catalog.dto.js';

export type Measurement = Pick<CatalogEntryDto, 'performance' | 'availability'>;

/** What was seen of one binding. `canServe`: somebody can be sent requests now. */
export interface BindingSight {
  weight: number;
  priority: number;
  canServe: boolean;
  /** Of the last minute. */
  recent: AttemptCounts;
}

/** Fewer requests say too little against a product. */
const MIN_REQUESTS = 5;
const DEGRADED_ERROR_RATE = 0.05;
const UNAVAILABLE_ERROR_RATE = 0.9;

/** The worst that holds: nobody can serve or nearly everything failed; then something failed or the preferred ones are away. */
export function availabilityOf(sights: readonly BindingSight[]): CatalogEntryDto['availability'] {
  const lit = sights.filter(({ weight }) => weight > 0);
  const serving = lit.filter(({ canServe }) => canServe);
  if (serving.length === 0) return 'unavailable';
  const counts = addedCounts(lit.map(({ recent }) => recent));
  const seen = requestFailures(counts);
  const failed = seen.of >= MIN_REQUESTS ? seen.failed / seen.of : 0;
  if (failed >= UNAVAILABLE_ERROR_RATE) return 'unavailable';
  const best = Math.min(...lit.map(({ priority }) => priority));
  const isBestWhole = lit.every(({ priority, canServe }) => priority > best || canServe);
  return failed > DEGRADED_ERROR_RATE || !isBestWhole ? 'degraded' : 'available';
}

/** Null if nothing was served. */
export function performanceOf(stats: readonly RequestStats[]): CatalogEntryDto['performance'] {
  if (stats.every(({ counts }) => counts.ok === 0)) return null;
  const ttft = mergeHistograms(stats.map(({ ttft_ms }) => ttft_ms));
  const p50 = quantile(ttft, 0.5);
  const p95 = quantile(ttft, 0.95);
  const speed = quantile(mergeHistograms(stats.map(({ output_tokens_per_s }) => output_tokens_per_s)), 0.5);
  return {
    ttft_ms: p50 === null || p95 === null ? null : { p50: rounded(p50), p95: rounded(p95) },
    output_tokens_per_s: speed === null ? null : rounded(speed),
  };
}

/** Histograms know a value to a few percent: more digits would pretend. */
function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
