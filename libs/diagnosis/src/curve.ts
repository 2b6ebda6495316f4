import { metricOf, type Distribution, type Metric } from '@slipway/contracts';
import { bucketOf, bucketValue, emptyHistogram, loadOf, mergeHistograms, type Histogram } from '@slipway/dataplane';
import { bucketsOf, type Block } from './blocks.js';
import { blocked, designEffect, leastSamples, measured } from './interval.js';
import type { CurvePoint, Goal, MeasuredValue } from './types.js';

/** Values of one metric at one bucket of load, block by block. */
export interface LoadBucketValues {
  bucket: number;
  /** Requests in flight that the bucket represents. */
  load: number;
  all: Histogram;
  blocks: readonly Histogram[];
}

/** Share of streams from which the duration of an answer is computed from its tokens. */
const MOSTLY_STREAMS = 0.5;
/** Requests below this load were nearly alone on their instance. */
export const NEARLY_ALONE = 1.42;
/** Buckets of a long histogram that are combined before it is multiplied with another one. */
const MOST_TERMS = 24;

/**
 * Returns the values of a metric by load, lowest load first.
 *
 * A long request seldom stays at a low load, because others join it. Its whole duration would therefore be missing at
 * low loads, so it is computed from the time to the first token, the time per token and the number of tokens.
 */
export function valuesByLoad(blocks: readonly Block[], metric: Distribution): LoadBucketValues[] {
  return metric === 'e2e_latency_ms' && isMostlyStreams(blocks) ? durationsByLoad(blocks) : plainByLoad(blocks, metric);
}

export function isMostlyStreams(blocks: readonly Block[]): boolean {
  const count = (metric: Distribution) => blocks.reduce((sum, block) => sum + block.overall(metric).n, 0);
  return count('itl_ms') >= MOSTLY_STREAMS * count('e2e_latency_ms') && count('itl_ms') > 0;
}

function plainByLoad(blocks: readonly Block[], metric: Distribution): LoadBucketValues[] {
  return bucketsOf(blocks, metric).map((name) =>
    bucketValues(
      name,
      blocks.map((block) => ownLoad(block, metric, name)),
    ),
  );
}

function durationsByLoad(blocks: readonly Block[]): LoadBucketValues[] {
  return bucketsOf(blocks, 'itl_ms').map((name) =>
    bucketValues(
      name,
      blocks.map((block) =>
        durations(ownLoad(block, 'ttft_ms', name), block.atLoad('itl_ms', name), block.outputTokens()),
      ),
    ),
  );
}

/** The lowest bucket, of requests that were alone until the end of what is measured. */
const ALONE = '0';
/** A value that counted more often than this would decide alone. */
const MOST_WEIGHT = 10;

/**
 * Returns the values at one load as if they were drawn from all requests. With much traffic, a request that was alone to
 * its first token is rather one with a short prompt, because another request joins a long one. A value of t milliseconds
 * therefore counts exp(h · t) times, where h is how often a request that is alone is joined. The comparison of two
 * revisions does the same.
 */
function ownLoad(block: Block, metric: Distribution, name: string): Histogram {
  const values = block.atLoad(metric, name);
  const definition = metricOf(metric);
  const isSelected = name === ALONE && definition.kind === 'distribution' && definition.isThatTime;
  return isSelected ? unselected(values, block.joinsPerMs()) : values;
}

function unselected(values: Histogram, joinsPerMs: number): Histogram {
  if (joinsPerMs === 0 || values.n === 0) return values;
  const weighted = Object.entries(values.b).map(([bucket, count]) => {
    const value = bucketValue(Number(bucket));
    return { bucket, count, value, weight: count * Math.min(MOST_WEIGHT, Math.exp(joinsPerMs * value)) };
  });
  const add = (term: (one: (typeof weighted)[number]) => number): number =>
    weighted.reduce((sum, one) => sum + term(one), 0);
  const scale = values.n / add(({ weight }) => weight);
  const grown = (power: number): number =>
    (scale * add(({ weight, value }) => weight * value ** power)) / add(({ count, value }) => count * value ** power);
  return {
    n: values.n,
    sum: values.sum * grown(1),
    sq: values.sq * grown(2),
    b: Object.fromEntries(weighted.map(({ bucket, weight }) => [bucket, scale * weight])),
  };
}

function bucketValues(name: string, blocks: readonly Histogram[]): LoadBucketValues {
  const bucket = Number(name);
  return { bucket, load: loadOf(bucket), all: mergeHistograms(blocks), blocks };
}

/** Distribution of first + perToken · (tokens − 1), as if the three did not depend on each other. */
export function durations(first: Histogram, perToken: Histogram, tokens: Histogram): Histogram {
  const n = Math.min(first.n, perToken.n, tokens.n);
  if (n === 0) return emptyHistogram();
  const [firsts, gaps, counts] = [first, perToken, tokens].map(sharesOf) as [Share[], Share[], Share[]];
  const b: Record<string, number> = {};
  let sum = 0;
  let sq = 0;
  for (const one of firsts)
    for (const gap of gaps)
      for (const count of counts) {
        const value = one.value + gap.value * Math.max(0, count.value - 1);
        const weight = n * one.share * gap.share * count.share;
        const at = bucketOf(value);
        b[at] = (b[at] ?? 0) + weight;
        sum += weight * value;
        sq += weight * value ** 2;
      }
  return { n, sum, sq, b };
}

interface Share {
  value: number;
  share: number;
}

function sharesOf({ n, b }: Histogram): Share[] {
  const all = Object.entries(b).map(([bucket, count]) => ({ value: bucketValue(Number(bucket)), share: count / n }));
  all.sort((one, other) => one.value - other.value);
  const each = Math.ceil(all.length / MOST_TERMS);
  if (each <= 1) return all;
  return Array.from({ length: Math.ceil(all.length / each) }, (_, index) => {
    const some = all.slice(index * each, (index + 1) * each);
    const share = some.reduce((sum, one) => sum + one.share, 0);
    return { share, value: some.reduce((sum, one) => sum + one.share * one.value, 0) / share };
  });
}

/** Points with enough samples for the goal's statistic. */
export function curveOf(
  goal: Goal,
  values: readonly LoadBucketValues[],
  evidence: { minSamples: number; confidence: number },
): CurvePoint[] {
  const enough = values.filter(({ all }) => all.n >= leastSamples(goal.stat, evidence.minSamples));
  const effect = designEffect(goal.stat, enough);
  return enough.flatMap((one) => {
    const point = measured(goal.stat, one, evidence.confidence, effect);
    return point ? [{ load: one.load, ...point }] : [];
  });
}

/** The statistic of all requests that were nearly alone; null with too few of them. */
export function idleValue(
  goal: Goal,
  values: readonly LoadBucketValues[],
  evidence: { minSamples: number; confidence: number },
): MeasuredValue | null {
  const alone = values.filter(({ load }) => load < NEARLY_ALONE);
  const blocks = (alone[0]?.blocks ?? []).map((_, index) =>
    mergeHistograms(alone.map((one) => one.blocks[index] as Histogram)),
  );
  const enough = values.filter(({ all }) => all.n >= leastSamples(goal.stat, evidence.minSamples));
  const found = measured(goal.stat, blocked(blocks), evidence.confidence, designEffect(goal.stat, enough));
  return found && found.n >= leastSamples(goal.stat, evidence.minSamples) ? found : null;
}

/** The metric as one that has a histogram; undefined for shares. */
export function distributionOf(metric: Metric): Distribution | undefined {
  return metricOf(metric).kind === 'distribution' ? (metric as Distribution) : undefined;
}
