/** Mean duration of a request, in milliseconds, by the load of its instance: lowest load first, loads of at least 1. */
export type ServiceCurve = readonly { load: number; ms: number }[];

/** Share of the requests of a pool by the load of their instance. */
export interface LoadShare {
  load: number;
  share: number;
}

/** A bucket of load reaches a quarter of an octave above the load that represents it. */
export const BUCKET_REACH = 2 ** 0.25;

/** States beyond this share of the probability change no statistic. */
const NEGLIGIBLE = 1e-9;
const MOST_STATES = 100_000;

/**
 * The loads that new requests find in a pool with Poisson arrivals, as a birth and death process. Gateways choose the least loaded instance, so the
 * load is nearly even, and n requests leave at the rate N · μ(n / N). Here μ(x) = x ÷ duration(x) is the rate of one
 * instance with x requests; below one request each, every request is alone. An engine with declared slots works on no
 * more requests than it has slots.
 *
 * @returns null if the arrivals exceed what the instances can do
 */
export function poolLoads(
  curve: ServiceCurve,
  arrivalsPerSecond: number,
  replicas: number,
  slots = Infinity,
): LoadShare[] | null {
  if (curve.length === 0) return null;
  const arrivalsPerMs = arrivalsPerSecond / 1_000;
  const leavesPerMs = (n: number): number => {
    const each = n / replicas;
    return each <= 1 ? n / msAt(curve, 1) : replicas * (Math.min(each, slots) / msAt(curve, Math.min(each, slots)));
  };
  const chances = [1];
  let total = 1;
  for (let n = 1; n < MOST_STATES; n += 1) {
    const chance = ((chances[n - 1] as number) * arrivalsPerMs) / leavesPerMs(n);
    chances.push(chance);
    total += chance;
    if (!Number.isFinite(total)) return null;
    // The chain falls off for good once more leave than come, and not before the loads that were never seen.
    if (chance < NEGLIGIBLE * total && leavesPerMs(n) > arrivalsPerMs) return sharesOf(chances, total, replicas);
  }
  return null;
}

function sharesOf(chances: readonly number[], total: number, replicas: number): LoadShare[] {
  const byLoad = new Map<number, number>();
  chances.forEach((chance, n) => {
    // The new request goes to an instance with the least: all have at least that many.
    const load = Math.floor(n / replicas) + 1;
    byLoad.set(load, (byLoad.get(load) ?? 0) + chance / total);
  });
  return [...byLoad].map(([load, share]) => ({ load, share }));
}

/**
 * A request sees the load change while it lasts, and its recorded load is the average. Returns the shares with each load
 * moved towards the mean.
 * @param stays duration of what is measured, in mean durations of a request
 */
export function averagedOver(shares: readonly LoadShare[], stays: number): LoadShare[] {
  const mean = shares.reduce((sum, { load, share }) => sum + load * share, 0);
  const kept = stays <= 0 ? 1 : (1 - Math.exp(-stays)) / stays;
  return shares.map(({ load, share }) => ({ load: mean + (load - mean) * kept, share }));
}

/** Linear between the measured loads. Above them an instance does no more work a second than at the highest. */
export function msAt(curve: ServiceCurve, load: number): number {
  const first = curve[0] as { load: number; ms: number };
  const last = curve.at(-1) as { load: number; ms: number };
  if (load <= first.load) return first.ms;
  if (load >= last.load) return (last.ms * load) / last.load;
  const above = curve.findIndex((point) => point.load >= load);
  const [low, high] = [curve[above - 1], curve[above]] as [{ load: number; ms: number }, { load: number; ms: number }];
  return low.ms + ((high.ms - low.ms) * (load - low.load)) / (high.load - low.load);
}

/** Returns the nearest curve that never falls: more load makes no request faster, so a fall is noise. */
export function monotonic(points: readonly { load: number; ms: number; n: number }[]): ServiceCurve {
  const pools: { loads: number[]; sum: number; n: number }[] = [];
  for (const { load, ms, n } of points) {
    pools.push({ loads: [load], sum: ms * n, n });
    for (let last = pools.length - 1; last > 0; last -= 1) {
      const [before, here] = [pools[last - 1], pools[last]] as [(typeof pools)[0], (typeof pools)[0]];
      if (before.sum / before.n <= here.sum / here.n) break;
      before.loads.push(...here.loads);
      before.sum += here.sum;
      before.n += here.n;
      pools.pop();
    }
  }
  return pools.flatMap(({ loads, sum, n }) => loads.map((load) => ({ load, ms: sum / n })));
}
