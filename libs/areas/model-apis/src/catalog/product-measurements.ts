import { Injectable } from '@nestjs/common';
import {
  addedCounts,
  type AttemptCounts,
  mergeHistograms,
  quantile,
  readEntries,
  requestFailures,
  type RequestStats,
  statsBetween,
} from '@slipway/dataplane';
import { Database, type Tx } from '@slipway/platform-database';
import type { PublishedProduct } from '@slipway/ports/model-api-administration';
import type { CatalogEntryDto } from './catalog.dto.js';

const PERFORMANCE_MS = 15 * 60_000;
const AVAILABILITY_MS = 60_000;
/** A list of products must not read all statistics on each request. */
const CACHE_MS = 5_000;
const MAX_CACHED = 10_000;

export type ProductMeasurement = Pick<CatalogEntryDto, 'performance' | 'availability'>;

/** Observations about one binding. `canServe`: at least one server can take requests now. */
export interface BindingHealth {
  weight: number;
  priority: number;
  canServe: boolean;
  /** Attempts of the last minute. */
  recent: AttemptCounts;
}

/** Fewer requests say too little about a product. */
const MIN_REQUESTS = 5;
const DEGRADED_ERROR_RATE = 0.05;
const UNAVAILABLE_ERROR_RATE = 0.9;

interface CachedMeasurement {
  at: number;
  bindings: string;
  measurement: Promise<ProductMeasurement>;
}

/** Reads what gateways recorded about the bindings of products; at most once every few seconds for each product. */
@Injectable()
export class ProductMeasurements {
  private readonly kept = new Map<string, CachedMeasurement>();

  constructor(private readonly database: Database) {}

  async of(product: PublishedProduct): Promise<ProductMeasurement> {
    const bindings = JSON.stringify(product.bindings);
    const known = this.kept.get(product.id);
    if (known && known.bindings === bindings && performance.now() - known.at < CACHE_MS) return known.measurement;
    if (this.kept.size >= MAX_CACHED) this.kept.clear();
    const measurement = this.database.tx('system', (tx) => measure(tx, product));
    this.kept.set(product.id, { at: performance.now(), bindings, measurement });
    measurement.catch(() => this.kept.delete(product.id));
    return measurement;
  }
}

async function measure(tx: Tx, product: PublishedProduct): Promise<ProductMeasurement> {
  const now = (await tx.now()).getTime();
  const revisions = product.bindings.flatMap(({ revisionId }) => (revisionId === null ? [] : [revisionId]));
  const { backends } = await readEntries(tx, { routes: [], backends: revisions, slugs: [], passports: [] });
  const serving = new Set(
    backends
      .filter(({ instances }) => instances.some(({ state }) => state === 'ready'))
      .map(({ revision_id }) => revision_id),
  );
  const sights: BindingHealth[] = [];
  const stats = [];
  for (const { id, weight, priority, revisionId } of product.bindings) {
    const { counts: recent } = await statsBetween(tx, id, new Date(now - AVAILABILITY_MS), new Date(now + 1_000));
    sights.push({ weight, priority, canServe: revisionId === null || serving.has(revisionId), recent });
    stats.push(await statsBetween(tx, id, new Date(now - PERFORMANCE_MS), new Date(now + 1_000)));
  }
  return { performance: performanceOf(stats), availability: availabilityOf(sights) };
}

/**
 * Returns the worst level that applies: `unavailable` if no binding can serve or nearly no request was served;
 * `degraded` if some requests failed, were refused for overload or waited in vain, or a preferred binding is unavailable.
 */
export function availabilityOf(sights: readonly BindingHealth[]): CatalogEntryDto['availability'] {
  const lit = sights.filter(({ weight }) => weight > 0);
  const serving = lit.filter(({ canServe }) => canServe);
  if (serving.length === 0) return 'unavailable';
  const counts = addedCounts(lit.map(({ recent }) => recent));
  const seen = requestFailures(counts);
  const of = seen.of + counts.abandoned;
  const unserved = seen.failed + counts.overloaded - counts.overloaded_retried + counts.abandoned;
  const failed = of >= MIN_REQUESTS ? unserved / of : 0;
  if (failed >= UNAVAILABLE_ERROR_RATE) return 'unavailable';
  const best = Math.min(...lit.map(({ priority }) => priority));
  const isBestWhole = lit.every(({ priority, canServe }) => priority > best || canServe);
  return failed > DEGRADED_ERROR_RATE || !isBestWhole ? 'degraded' : 'available';
}

/** Returns null if nothing was served. */
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

/** Histograms know a value to a few percent, so more digits would be false precision. */
function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
