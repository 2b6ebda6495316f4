import { randomFrom } from '@slipway/inference-sim/random';
import { Pool, type PoolObserver, type PoolRequest } from './pool.js';
import type { Profile, ProfileMetric } from './profiles.js';
import { GatewayRecords } from './gateway-records.js';
import { Arrivals, drawLengths, type Course, type Lengths } from './traffic.js';

export interface RunSettings {
  profile: Profile;
  replicas: number;
  patienceMs: number;
  course: Course;
  minutes: number;
  seed: number;
  /** Called with each request before it arrives. */
  onArrival?: (at: number, lengths: Lengths) => void;
}

const MINUTE_MS = 60_000;
/** Values of the first minutes are left out: the pool begins empty, and its first requests are slow. */
export const WARM_UP_MS = 2 * MINUTE_MS;

/** Runs a pool at a constant rate, and returns the values of the profile's metric, lowest first. */
export function steadyRun(settings: Omit<RunSettings, 'course'> & { rate: number }): Float64Array {
  const { rate, ...rest } = settings;
  const course: Course = { peak: rate, low: 1, warmUpMs: 0, riseMs: 0, then: 'plateau' };
  const values = new Values(settings.profile.metric, WARM_UP_MS);
  run({ ...rest, minutes: settings.minutes + WARM_UP_MS / MINUTE_MS, course }, 0, values);
  return values.sorted();
}

/** Runs requests one after another, each alone, and returns the values of the profile's metric, lowest first. */
export function aloneRun(profile: Profile, requests: number, seed: number): Float64Array {
  const random = randomFrom(seed);
  const values = new Values(profile.metric, 0);
  const pool = new Pool({ profile, replicas: 1, patienceMs: Infinity, startAt: 0 }, random, values);
  let at = 0;
  // A long time between them, so that none overlaps with another one.
  for (let index = 0; index < requests; index += 1) {
    at += 10 * MINUTE_MS;
    pool.arrive(at, drawLengths(random, profile));
  }
  pool.runUntil(Infinity);
  return values.sorted();
}

/** Requests per second that one instance can do, if some always wait. */
export function capacityOf(profile: Profile, seed: number): number {
  const random = randomFrom(seed);
  const backlog = 400 + 10 * profile.constants['max-num-seqs'];
  const ends: number[] = [];
  const observer = { onEnd: (_request: PoolRequest, at: number) => ends.push(at) };
  const pool = new Pool({ profile, replicas: 1, patienceMs: Infinity, startAt: 0 }, random, observer);
  for (let index = 0; index < backlog; index += 1) pool.arrive(0, drawLengths(random, profile));
  pool.runUntil(Infinity);
  const [from, to] = [Math.floor(0.2 * ends.length), Math.floor(0.8 * ends.length)];
  return (1_000 * (to - from)) / ((ends[to] as number) - (ends[from] as number));
}

/** As a plan states it. */
export interface RolloutStep {
  traffic_percent: number;
  soak_seconds: number;
}

/** A revision that serves traffic for as long as wanted, with all that a gateway records of it. */
export class Service {
  readonly gateway = new GatewayRecords(0);
  private readonly random: () => number;
  private readonly arrivals: Arrivals;
  private pool: Pool | undefined;
  private at = 0;

  constructor(private readonly settings: Omit<RunSettings, 'minutes' | 'replicas'>) {
    this.random = randomFrom(settings.seed);
    this.arrivals = new Arrivals(this.random, settings.course);
  }

  /**
   * Serves with so many instances; if their number or the engine changes, all of them are new, as after a rollout.
   * @param profile of the engine; requests stay those of the settings
   */
  serve(replicas: number, minutes: number, profile = this.settings.profile): void {
    const { patienceMs } = this.settings;
    if (this.pool?.instances.length !== replicas || this.pool.profile !== profile) {
      // The requests of the previous instances end here.
      this.pool?.runUntil(this.at);
      this.gateway.replicas = replicas;
      this.pool = new Pool({ profile, replicas, patienceMs, startAt: this.at }, this.random, this.gateway);
    }
    this.pass(minutes, this.pool, () => this.pool as Pool);
  }

  /**
   * Moves the traffic to new instances by the steps of a rollout, and promotes them. Their answers before that are
   * recorded for another revision, so not here.
   */
  promote(replicas: number, steps: readonly RolloutStep[]): void {
    const { profile, patienceMs } = this.settings;
    const observer = new Candidate(this.gateway);
    const candidate = new Pool({ profile, replicas, patienceMs, startAt: this.at }, this.random, observer);
    const active = this.pool as Pool;
    for (const { traffic_percent: percent, soak_seconds: seconds } of steps) {
      const choose = () => (100 * this.random() < percent ? candidate : active);
      this.pass(Math.ceil(seconds / 60), active, choose, candidate);
    }
    observer.isPromoted = true;
    this.gateway.replicas = replicas;
    this.pool = candidate;
  }

  private pass(minutes: number, recorded: Pool, choose: () => Pool, other = recorded): void {
    for (const until = this.at + minutes * MINUTE_MS; this.at < until;) {
      this.at += MINUTE_MS;
      sendUntil(this.at, choose, this.arrivals, this.random, this.settings);
      recorded.runUntil(this.at);
      other.runUntil(this.at);
      this.gateway.endMinute(recorded);
    }
  }
}

/** The observer of instances whose answers count once their rollout is promoted. */
class Candidate implements PoolObserver {
  isPromoted = false;

  constructor(private readonly records: GatewayRecords) {}

  onStart(request: PoolRequest): void {
    if (this.isPromoted) this.records.onStart(request);
  }

  onFirstToken(request: PoolRequest, at: number): void {
    this.records.onFirstToken(request, at);
  }

  onEnd(request: PoolRequest, at: number, isAbandoned: boolean): void {
    if (request.stay) this.records.onEnd(request, at, isAbandoned);
  }
}

function run(settings: RunSettings, startAt: number, observer: PoolObserver): void {
  const random = randomFrom(settings.seed);
  const pool = new Pool({ ...settings, startAt }, random, observer);
  const arrivals = new Arrivals(random, settings.course, startAt);
  const until = startAt + settings.minutes * MINUTE_MS;
  sendUntil(until, () => pool, arrivals, random, settings);
  pool.runUntil(until);
}

function sendUntil(
  until: number,
  choose: () => Pool,
  arrivals: Arrivals,
  random: () => number,
  { profile, onArrival }: Pick<RunSettings, 'profile' | 'onArrival'>,
): void {
  while (arrivals.nextAt < until) {
    const lengths = drawLengths(random, profile);
    onArrival?.(arrivals.nextAt, lengths);
    choose().arrive(arrivals.nextAt, lengths);
    arrivals.advance();
  }
}

/** Collects the values of one metric. */
class Values implements PoolObserver {
  private values = new Float64Array(4_096);
  private count = 0;

  constructor(
    private readonly metric: ProfileMetric,
    private readonly from: number,
  ) {}

  onEnd({ startedAt, firstTokenAt, outputTokens }: PoolRequest, at: number, isAbandoned: boolean): void {
    if (startedAt < this.from) return;
    // Clients that left waited at least that long for the first token, and saw no others.
    if (this.metric === 'ttft_ms') this.add((isAbandoned ? at : (firstTokenAt as number)) - startedAt);
    else if (!isAbandoned) this.add((at - (firstTokenAt as number)) / (outputTokens - 1));
  }

  sorted(): Float64Array {
    return this.values.slice(0, this.count).sort();
  }

  private add(value: number): void {
    if (this.count === this.values.length) {
      const more = new Float64Array(2 * this.count);
      more.set(this.values);
      this.values = more;
    }
    this.values[this.count] = value;
    this.count += 1;
  }
}

/** Returns a statistic of sorted values; NaN without any. */
export function statisticOf(stat: string, sorted: Float64Array): number {
  if (stat === 'avg') return sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  const q = Number(stat.slice(1)) / 100;
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? NaN;
}
