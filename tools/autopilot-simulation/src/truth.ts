import { UsageError } from './options.js';
import type { Profile } from './profiles.js';
import { aloneRun, capacityOf, statisticOf, steadyRun } from './runs.js';

/** A rate, and what is true at that rate. */
export interface Situation {
  /** Requests per second at the busiest time. */
  rate: number;
  threshold: number;
  /** The least number of instances that meets the threshold at that rate. */
  replicas: number;
}

export interface TruthSettings {
  stat: string;
  /** The lowest utilisation of the instances that are needed. */
  utilisation: number;
  /** How many times as high as the idle value the value of the needed instances is at least. */
  felt: number;
  minutes: number;
  runs: number;
  patienceMs: number;
}

const ALONE_REQUESTS = 2_000;
/** Seeds of their own, so that no seed of a cell is part of the truth. */
const FIRST_SEED = 1_000_000_007;
/** Utilisations that are tried for a situation: up to this one, in such steps. */
const HIGHEST_UTILISATION = 0.9;
const UTILISATION_STEP = 0.025;
/** How many times the statistic of one replica fewer, and that of the replicas that run, is above the threshold. */
const CLEARLY = 1.1;
const MISSED = 1.3;
/** Largest value of a run, as a multiple of the smallest. */
const MOST_SPREAD = 1.3;

/** Finds out by simulation what is true of a profile. Each value is computed once. */
export class Truth {
  private readonly known = new Map<string, unknown>();

  constructor(
    readonly profile: Profile,
    private readonly settings: TruthSettings,
  ) {}

  /** The statistic of requests that are alone on an instance. */
  get idle(): number {
    return this.once('idle', () => statisticOf(this.settings.stat, aloneRun(this.profile, ALONE_REQUESTS, FIRST_SEED)));
  }

  /** Requests per second that one instance can do. */
  get capacity(): number {
    return this.once('capacity', () => capacityOf(this.profile, FIRST_SEED));
  }

  /** The statistic of so many instances at a constant rate: the median of some runs. */
  at(replicas: number, rate: number): number {
    const values = this.runsAt(replicas, rate);
    return values[Math.floor(values.length / 2)] as number;
  }

  /**
   * Returns the lowest rate at which load is felt with `replicas` instances, and they are the fewest that meet a threshold
   * of `margin` times their own value, while `now` instances, if fewer, clearly miss it.
   * @throws UsageError if there is no such rate: load then changes too little for these constants
   */
  situation(replicas: number, margin: number, now = replicas): Situation {
    for (let { utilisation } = this.settings; utilisation <= HIGHEST_UTILISATION; utilisation += UTILISATION_STEP) {
      const rate = utilisation * replicas * this.capacity;
      const threshold = margin * this.at(replicas, rate);
      if (!this.isFelt(replicas, rate)) continue;
      // Closer values would make it a matter of chance which number is true.
      const fewer = Math.min(now, replicas - 1);
      if (this.at(replicas - 1, rate) >= CLEARLY * threshold && this.at(fewer, rate) >= MISSED * threshold)
        return { rate, threshold, replicas };
    }
    throw new UsageError(
      `${this.profile.name}: at no rate are ${replicas} instances ${margin} times as good as needed, and one fewer too few`,
    );
  }

  /** Whether load makes requests slow, by about the same factor in each run: chance must not decide the statistic. */
  private isFelt(replicas: number, rate: number): boolean {
    const values = this.runsAt(replicas, rate);
    const [lowest, highest] = [values[0] as number, values.at(-1) as number];
    return this.at(replicas, rate) >= this.settings.felt * this.idle && highest <= MOST_SPREAD * lowest;
  }

  /** Values of the runs, lowest first. */
  private runsAt(replicas: number, rate: number): readonly number[] {
    return this.once(`${replicas} ${rate}`, () => {
      const { stat, runs, minutes, patienceMs } = this.settings;
      const { profile } = this;
      const values = Array.from({ length: runs }, (_, index) => {
        const seed = FIRST_SEED + index;
        return statisticOf(stat, steadyRun({ profile, replicas, rate, minutes, seed, patienceMs }));
      });
      return values.sort((a, b) => a - b);
    });
  }

  private once<T>(key: string, compute: () => T): T {
    if (!this.known.has(key)) this.known.set(key, compute());
    return this.known.get(key) as T;
  }
}
