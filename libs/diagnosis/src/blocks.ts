import { mergeHistograms, quantile, type Histogram, type ServiceRecord } from '@slipway/dataplane';
import type { Distribution } from '@slipway/contracts';

/** Requests of one moment share a queue, so values of less time than this count as one observation. */
const LEAST_SECONDS = 300;
/** How many times longer than a request a block must be, for the same reason. */
const TIMES_DURATION = 10;
/** More blocks would not make an interval more precise, and each costs processor time. */
const MOST_BLOCKS = 20;

/** Consecutive records whose values count as dependent on each other. Merges are computed once. */
export class Block {
  readonly seconds: number;
  private readonly merged = new Map<string, Histogram>();

  constructor(readonly records: readonly ServiceRecord[]) {
    this.seconds = records.reduce((sum, { seconds }) => sum + seconds, 0);
  }

  /** All requests. */
  overall(metric: Distribution): Histogram {
    return this.once(`all ${metric}`, ({ stats }) => stats[metric]);
  }

  starting(metric: Distribution): Histogram {
    return this.once(`starting ${metric}`, ({ starting }) => starting[metric]);
  }

  /** Requests at one bucket of load (`loadBucketOf`), without those of starting instances. */
  atLoad(metric: Distribution, bucket: string): Histogram {
    return this.once(`${metric} ${bucket}`, ({ stats }) => stats.loads.histograms[metric]?.[bucket]);
  }

  /** How often a request that is alone on an instance is joined by another one, per millisecond. */
  joinsPerMs(): number {
    const [joined, aloneMs] = this.records.reduce(
      ([joins, ms], { stats: { loads } }) => [joins + loads.joined, ms + loads.alone_ms] as const,
      [0, 0] as readonly [number, number],
    );
    return aloneMs > 0 ? joined / aloneMs : 0;
  }

  outputTokens(): Histogram {
    return this.once('output tokens', ({ outputTokens }) => outputTokens);
  }

  private once(key: string, read: (record: ServiceRecord) => Histogram | undefined): Histogram {
    let histogram = this.merged.get(key);
    if (!histogram) {
      histogram = mergeHistograms(this.records.map(read).filter((one) => one !== undefined));
      this.merged.set(key, histogram);
    }
    return histogram;
  }
}

/** Divides records into blocks of at least five minutes and ten times the duration of a request. */
export function blocksOf(records: readonly ServiceRecord[]): Block[] {
  const total = records.reduce((sum, { seconds }) => sum + seconds, 0);
  const durations = mergeHistograms(records.map(({ stats }) => stats.e2e_latency_ms));
  const longMs = quantile(durations, 0.5) ?? 0;
  const least = Math.max(LEAST_SECONDS, (TIMES_DURATION * longMs) / 1_000, total / MOST_BLOCKS);
  const blocks: Block[] = [];
  let open: ServiceRecord[] = [];
  let seconds = 0;
  for (const record of records) {
    open.push(record);
    seconds += record.seconds;
    if (seconds < least) continue;
    blocks.push(new Block(open));
    [open, seconds] = [[], 0];
  }
  // A short rest is part of the last block: as a block of its own it would count as much as a whole one.
  const last = blocks.at(-1);
  if (open.length > 0 && last) blocks[blocks.length - 1] = new Block([...last.records, ...open]);
  else if (open.length > 0) blocks.push(new Block(open));
  return blocks;
}

/** Returns the buckets of load that a metric has in any record, lowest first. */
export function bucketsOf(blocks: readonly Block[], metric: Distribution): string[] {
  const names = new Set<string>();
  for (const { records } of blocks)
    for (const { stats } of records) for (const name in stats.loads.histograms[metric]) names.add(name);
  return [...names].sort((a, b) => Number(a) - Number(b));
}
