import type { Stat } from '@slipway/contracts';
import type { ServiceRecord } from '@slipway/dataplane';
import type { GoalDiagnosis } from '@slipway/diagnosis';
import type { Options } from './options.js';
import type { Profile } from './profiles.js';
import { advise, type Advice, type Question } from './proposal.js';
import { Service, statisticOf, steadyRun, WARM_UP_MS } from './runs.js';
import type { Course, Lengths } from './traffic.js';
import { Truth } from './truth.js';

/* The simulation of one seed, for each kind of cell. */

export interface CellContext {
  profile: Profile;
  truth: Truth;
  options: Options;
}

export function contextOf(profile: Profile, options: Options): CellContext {
  const { stat, run } = options;
  const truth = new Truth(profile, {
    stat,
    utilisation: run.utilisation,
    felt: run.felt,
    minutes: run['truth-minutes'],
    runs: run['truth-runs'],
    patienceMs: patienceOf(options),
  });
  return { profile, truth, options };
}

/** Below this load a request was nearly alone: the first two buckets. */
const NEARLY_ALONE_BUCKETS = ['0', '1'];
const LEAST_BEYOND = 20;

/** Used share of the capacity at the peak, and the rate at the quietest time as a share of the peak. */
export interface Quietness {
  utilisation: number;
  low: number;
}

export interface IntrinsicOutcome {
  isLowLoadSeen: boolean;
  isNamed: boolean;
  isScaledUp: boolean;
  cause: string;
}

/**
 * One instance: with an SLO that no request could meet, and with one that it meets. The second outcome is that of
 * `nothingToGain`.
 */
export function single(
  context: CellContext,
  seed: number,
  { utilisation, low }: Quietness,
): { intrinsic: IntrinsicOutcome; comfortable: IdleOutcome } {
  const { truth, options } = context;
  const rate = utilisation * truth.capacity;
  const service = served(context, { seed, low, rate, replicas: 1 });
  const unreachable = options.run['intrinsic-share'] * truth.idle;
  const { diagnosis, replicas } = adviceFor(context, service, { replicas: 1, threshold: unreachable });
  const threshold = truth.at(1, rate) / options.run['goal-share'];
  return {
    intrinsic: {
      isLowLoadSeen: aloneCount(context, service.gateway.records) >= leastAlone(options),
      isNamed: diagnosis.goals[0]?.cause === 'intrinsic',
      isScaledUp: replicas !== null && replicas > 1,
      cause: causeOf(diagnosis),
    },
    comfortable: idleOutcome(adviceFor(context, service, { replicas: 1, threshold })),
  };
}

export interface SizingOutcome {
  /** Null: no plan. */
  proposed: number | null;
  /** Of the diagnosis, and why it has no number. */
  cause: string;
  /** Whether the proposed number differs from the true one by at most one or 15 %. */
  isRight: boolean;
  /** Whether the proposed instances meet the SLO at the true peak. */
  isMet: boolean;
  /** Peak rate that was found, as a multiple of the true one. */
  rateRatio: number | null;
  /** Achieved ÷ predicted, with the proposed instances at the rate that the plan assumes. */
  planError: number | null;
  /** The same with the true number at the true rate. */
  trueError: number | null;
}

/** Fewer instances than the traffic needs. */
export function sizing(context: CellContext, seed: number, from: number, to: number): SizingOutcome {
  const { profile, truth, options } = context;
  const { run } = options;
  const { rate, threshold } = truth.situation(to, run.margin, from);
  const service = served(context, { seed, low: run.low, rate, replicas: from });
  const advice = adviceFor(context, service, { replicas: from, threshold });
  const { replicas: proposed, peakRate } = advice;
  const cause = causeOf(advice.diagnosis);
  const rateRatio = peakRate === null ? null : peakRate / rate;
  const errorOf = (replicas: number, requests: number, achieved: number): number | null => {
    const predicted = advice.predict(replicas, requests);
    return predicted && achieved / predicted.value;
  };
  const achieved = (replicas: number, requests: number): number => {
    const settings = { profile, replicas, rate: requests, minutes: run['truth-minutes'] };
    return statisticOf(
      options.stat,
      steadyRun({ ...settings, seed: seed + OTHER_SEED, patienceMs: patienceOf(options) }),
    );
  };
  const atTruth = achieved(to, rate);
  const trueError = errorOf(to, rate, atTruth);
  const none = { proposed, cause, isRight: false, isMet: false, rateRatio, planError: null, trueError };
  if (proposed === null || peakRate === null || proposed <= from) return none;
  return {
    ...none,
    isRight: Math.abs(proposed - to) <= Math.max(1, TOLERANCE * to),
    isMet: (proposed === to ? atTruth : achieved(proposed, rate)) <= threshold,
    planError: errorOf(proposed, peakRate, achieved(proposed, peakRate)),
  };
}

/** One case of `sizing` as requests, which can be sent to a real engine, and what the autopilot says of them. */
export interface Schedule {
  threshold: number;
  /** Milliseconds from the beginning, prompt tokens, tokens of the answer. They continue for some minutes after the case. */
  requests: [at: number, inputTokens: number, outputTokens: number][];
  diagnosis: GoalDiagnosis;
}

export function schedule(context: CellContext, seed: number, from: number, to: number): Schedule {
  const { run } = context.options;
  const { rate, threshold } = context.truth.situation(to, run.margin, from);
  const requests: Schedule['requests'] = [];
  const onArrival = (at: number, { inputTokens, outputTokens }: Lengths): void =>
    void requests.push([Math.round(at), inputTokens, outputTokens]);
  const service = served(context, { seed, low: run.low, rate, replicas: from, onArrival });
  const { goals } = adviceFor(context, service, { replicas: from, threshold }).diagnosis;
  service.serve(from, MINUTES_AFTER);
  return { threshold, requests, diagnosis: goals[0] as GoalDiagnosis };
}

/** A real stack needs some time to read the last minute. */
const MINUTES_AFTER = 4;

/** Of the number of instances. */
const TOLERANCE = 0.15;
/** Predictions have seen other random numbers than those of the run that shows what is achieved. */
const OTHER_SEED = 500_000_000;

export interface IdleOutcome {
  /** Null: no plan. */
  proposed: number | null;
  cause: string;
}

/** As many instances as the traffic needs, at least two, at a share of the SLO. */
export function nothingToGain(context: CellContext, seed: number, replicas: number): IdleOutcome {
  const { options } = context;
  const { rate, threshold } = comfortable(context, replicas);
  const service = served(context, { seed, low: options.run.low, rate, replicas });
  return idleOutcome(adviceFor(context, service, { replicas, threshold }));
}

function idleOutcome({ replicas, diagnosis }: Advice): IdleOutcome {
  return { proposed: replicas, cause: causeOf(diagnosis) };
}

export interface CycleOutcome {
  /** Instances in each window. */
  replicas: number[];
  isScaledDown: boolean;
  /** Whether a window has more instances than an earlier one that had fewer than the first. */
  isCycle: boolean;
}

/** Two instances whose survivor would miss the SLO, over several windows. Each plan is executed. */
export function twoReplicas(context: CellContext, seed: number): CycleOutcome {
  const { profile, options } = context;
  const { run } = options;
  const { rate, threshold } = comfortable(context, 2);
  const minutes = run['cycle-minutes'];
  const course: Course = { peak: rate, low: run.low, warmUpMs: WARM_UP_MS, riseMs: 60_000 * minutes, then: 'days' };
  const service = new Service({ profile, course, seed, patienceMs: patienceOf(options) });
  service.serve(2, minutes + WARM_UP_MS / 60_000);
  const replicas: number[] = [];
  let now = 2;
  for (let window = 0; window < run.windows; window += 1) {
    service.serve(now, minutes);
    replicas.push(now);
    now = adviceFor(context, service, { replicas: now, threshold }, minutes).replicas ?? now;
  }
  replicas.push(now);
  const lowest = replicas.findIndex((count) => count < 2);
  return {
    replicas,
    isScaledDown: lowest >= 0,
    isCycle: lowest >= 0 && replicas.slice(lowest).some((count) => count > (replicas[lowest] as number)),
  };
}

/** A rate and threshold at which this many instances are at `goal-share` of the SLO, and one fewer would miss it. */
function comfortable({ truth, options }: CellContext, replicas: number): { rate: number; threshold: number } {
  return truth.situation(replicas, 1 / options.run['goal-share']);
}

interface ServiceSettings {
  seed: number;
  low: number;
  rate: number;
  replicas: number;
  onArrival?: (at: number, lengths: Lengths) => void;
}

/** Rises to the busiest time, and stays there for a window. */
export function served({ profile, options }: CellContext, { low, rate, replicas, ...rest }: ServiceSettings): Service {
  const { minutes, 'window-minutes': windowMinutes } = options.run;
  const riseMs = 60_000 * (minutes - windowMinutes) - WARM_UP_MS;
  const course: Course = { peak: rate, low, warmUpMs: WARM_UP_MS, riseMs, then: 'plateau' };
  const service = new Service({ profile, course, patienceMs: patienceOf(options), ...rest });
  service.serve(replicas, minutes);
  return service;
}

type AdviceSubject = { replicas: number; threshold: number } & Pick<Question, 'calibration' | 'failedIdeas' | 'model'>;

export function adviceFor(
  { profile, options }: CellContext,
  { gateway }: Service,
  { replicas, threshold, ...memory }: AdviceSubject,
  windowMinutes = options.run['window-minutes'],
): Advice {
  const { run, declaresSlots } = options;
  return advise({
    goal: { metric: profile.metric, stat: options.stat as Stat, threshold },
    evidence: { minSamples: run['min-samples'], confidence: run.confidence },
    replicas,
    spareReplicas: run['spare-replicas'],
    slots: declaresSlots ? profile.constants['max-num-seqs'] : undefined,
    records: gateway.records,
    windowMinutes,
    arrivals: gateway.arrivals,
    ...memory,
  });
}

function causeOf({ goals }: Advice['diagnosis']): string {
  const [goal] = goals;
  return goal ? [goal.cause, goal.because].filter((part) => part !== undefined).join(': ') : 'none';
}

function aloneCount({ profile }: CellContext, records: readonly ServiceRecord[]): number {
  return records.reduce((sum, { stats }) => {
    const histograms = stats.loads.histograms[profile.metric];
    return sum + NEARLY_ALONE_BUCKETS.reduce((all, bucket) => all + (histograms[bucket]?.n ?? 0), 0);
  }, 0);
}

/**
 * Requests at low load that show a fifth more than the SLO beyond chance. With log-normal lengths of sigma 0.5, a
 * quantile needs about 20 values beyond it.
 */
function leastAlone({ stat, run }: Options): number {
  const q = stat === 'avg' ? 0 : Number(stat.slice(1)) / 100;
  return Math.max(run['min-samples'], LEAST_BEYOND / (1 - q));
}

function patienceOf({ run }: Options): number {
  return 1_000 * run['patience-s'];
}
