import { Injectable } from '@nestjs/common';
import { readEntries, statsBetween } from '@slipway/dataplane';
import { Database, type Tx } from '@slipway/platform-database';
import type { PublishedProduct } from '@slipway/ports/model-api-administration';
import { availabilityOf, performanceOf, type BindingSight, type Measurement } from './measurement.js';

const PERFORMANCE_MS = 15 * 60_000;
const AVAILABILITY_MS = 60_000;
/** A list of products must not read every statistic at each request. */
const KEEP_MS = 5_000;
const MAX_KEPT = 10_000;

interface Kept {
  at: number;
  bindings: string;
  measurement: Promise<Measurement>;
}

/** What gateways have recorded about the bindings of products; measured at most every few seconds for each product. */
@Injectable()
export class ProductMeasurements {
  private readonly kept = new Map<string, Kept>();

  constructor(private readonly database: Database) {}

  async of(product: PublishedProduct): Promise<Measurement> {
    const bindings = JSON.stringify(product.bindings);
    const known = this.kept.get(product.id);
    if (known && known.bindings === bindings && Date.now() - known.at < KEEP_MS) return known.measurement;
    if (this.kept.size >= MAX_KEPT) this.kept.clear();
    const measurement = this.database.tx('system', (tx) => measure(tx, product));
    this.kept.set(product.id, { at: Date.now(), bindings, measurement });
    measurement.catch(() => this.kept.delete(product.id));
    return measurement;
  }
}

async function measure(tx: Tx, product: PublishedProduct): Promise<Measurement> {
  const now = Date.now();
  const revisions = product.bindings.flatMap(({ revisionId }) => (revisionId === null ? [] : [revisionId]));
  const { backends } = await readEntries(tx, { routes: [], backends: revisions, slugs: [], passports: [] });
  const serving = new Set(
    backends
      .filter(({ instances }) => instances.some(({ state }) => state === 'ready'))
      .map(({ revision_id }) => revision_id),
  );
  const sights: BindingSight[] = [];
  const stats = [];
  for (const { id, weight, priority, revisionId } of product.bindings) {
    const { counts: recent } = await statsBetween(tx, id, new Date(now - AVAILABILITY_MS), new Date(now + 1_000));
    sights.push({ weight, priority, canServe: revisionId === null || serving.has(revisionId), recent });
    stats.push(await statsBetween(tx, id, new Date(now - PERFORMANCE_MS), new Date(now + 1_000)));
  }
  return { performance: performanceOf(stats), availability: availabilityOf(sights) };
}
