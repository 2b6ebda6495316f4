import { effectiveScaling, type EffectiveScaling, type ScalingSpec } from '@slipway/contracts';

/** Below this share of what the instances are meant to bear, one of them may go. */
const LOW = 0.6;
/** Of the memory for keys and values: beyond it, long contexts begin to be thrown out and computed again. */
const KV_FULL = 0.85;
/** Seconds from one failed start out of sleep to the next attempt: 1, 2, 4 … 60. */
const LONGEST_BACK_OFF_SECONDS = 60;

/** What a decision is made of. Ages are seconds, by the clock of Postgres. */
export interface ScalingSituation {
  scaling: EffectiveScaling;
  /** Instances that are wanted now. */
  replicas: number;
  ready: number;
  /** Instances whose start has begun and not ended. */
  starting: number;
  /** Requests at the gateways: sent to an instance, and waiting for one. */
  in_flight: number;
  held: number;
  /** Requests that the engines queue, over all of them; null where nobody knows. */
  waiting: number | null;
  /** Mean over the engines, 0..1; null where nobody knows. */
  kv_usage: number | null;
  /** Since the last request. */
  idle_age_seconds: number;
  /** Since when the load has been low without a break; null while it is not. */
  low_age_seconds: number | null;
  /** It slept, and no instance has been ready since. */
  isAsleep: boolean;
  /** Why the start that was to end the sleep came to nothing. */
  failure: string | null;
  /** Failed starts one after the other, and seconds since the last. */
  failures: number;
  failure_age_seconds: number | null;
  /** A rollout, rollback or deletion of the deployment runs. */
  isChanging: boolean;
  /** An operation waits for instances of this very revision, and judges their starts by itself. */
  isAwaited: boolean;
}

export type ScalingReason =
  | 'in_flight'
  | 'waiting'
  | 'kv_usage'
  | 'low_load'
  | 'idle'
  | 'requests_held'
  | 'start_failed'
  | 'min_replicas'
  | 'max_replicas';

export interface ScalingDecision {
  replicas: number;
  /** Null where nothing changes. */
  reason: ScalingReason | null;
  /** Whether fewer instances would do at this moment: how long that lasts is kept. */
  isLow: boolean;
}

/** How many instances a revision that does not sleep has at least and at most. */
export function replicaBounds({ min_replicas, max_replicas, target_in_flight }: EffectiveScaling) {
  const least = Math.max(1, min_replicas);
  return { least, most: target_in_flight === null ? least : max_replicas };
}

/** Seconds that pass between a failed start out of sleep and the next. */
export function wakeBackOffSeconds(failures: number): number {
  return failures === 0 ? 0 : Math.min(LONGEST_BACK_OFF_SECONDS, 2 ** (failures - 1));
}

/**
 * The only function that decides how many instances a revision has. It only looks at what it is given, so a decision that was not written is
 * made again.
 *
 * Up at once, to the largest of what the signals ask for. Down one at a time, and only where the rest had borne all that came in the
 * meantime, so that the next sample does not bring it back. Nothing follows the load while somebody changes the deployment or an instance
 * starts; only a sleeper is woken always, because requests wait for it.
 */
export function decideScaling(now: ScalingSituation): ScalingDecision {
  const { replicas, scaling } = now;
  if (now.isAsleep) return asleep(now);
  const isLow = wouldFewerDo(now);
  const stay: ScalingDecision = { replicas, reason: null, isLow };
  if (now.isChanging) return { ...stay, isLow: false };
  const { least, most } = replicaBounds(scaling);
  if (replicas < least) return { replicas: least, reason: 'min_replicas', isLow: false };
  if (replicas > most) return { replicas: most, reason: 'max_replicas', isLow: false };
  if (isIdle(now)) return { replicas: 0, reason: 'idle', isLow: false };
  const { replicas: wished, reason } = largestWish(now);
  const up = Math.min(most, wished);
  if (up > replicas) return { replicas: up, reason, isLow: false };
  const isLongLow = isLow && now.low_age_seconds !== null && now.low_age_seconds >= scaling.scale_down_after_seconds;
  if (isLongLow && now.starting === 0 && replicas > least)
    return { replicas: replicas - 1, reason: 'low_load', isLow: false };
  return stay;
}

/** One start for however many wait; when it fails, it sleeps again, and the next one waits its time. */
function asleep(now: ScalingSituation): ScalingDecision {
  const { replicas, scaling, failures, failure_age_seconds: age } = now;
  if (replicas > 0)
    return now.failure === null || now.isAwaited
      ? { replicas, reason: null, isLow: false }
      : { replicas: 0, reason: 'start_failed', isLow: false };
  const isTime = age === null || age >= wakeBackOffSeconds(failures);
  const { least } = replicaBounds(scaling);
  if (scaling.min_replicas > 0 && isTime) return { replicas: least, reason: 'min_replicas', isLow: false };
  if (now.held > 0 && isTime) return { replicas: least, reason: 'requests_held', isLow: false };
  return { replicas: 0, reason: null, isLow: false };
}

function isIdle({ scaling, idle_age_seconds, in_flight, held, starting, isAwaited }: ScalingSituation): boolean {
  const isUsed = in_flight > 0 || held > 0 || starting > 0 || isAwaited;
  return scaling.idle_seconds !== null && idle_age_seconds >= scaling.idle_seconds && !isUsed;
}

/** Engines tell late and of those instances alone that run, so what they say counts once all have started. */
function largestWish(now: ScalingSituation): { replicas: number; reason: ScalingReason } {
  const { scaling, replicas, ready, waiting, kv_usage } = now;
  const target = scaling.target_in_flight;
  if (target === null) return { replicas, reason: 'in_flight' };
  const wishes: { replicas: number; reason: ScalingReason }[] = [
    { replicas: Math.ceil((now.in_flight + now.held) / target), reason: 'in_flight' },
  ];
  if (ready >= replicas) {
    wishes.push({ replicas: replicas + Math.ceil((waiting ?? 0) / target), reason: 'waiting' });
    if ((kv_usage ?? 0) > KV_FULL) wishes.push({ replicas: replicas + 1, reason: 'kv_usage' });
  }
  return wishes.reduce((largest, wish) => (wish.replicas > largest.replicas ? wish : largest));
}

function wouldFewerDo({ scaling, replicas, in_flight, held, waiting, kv_usage }: ScalingSituation): boolean {
  const target = scaling.target_in_flight;
  if (target === null || replicas <= 1) return false;
  const load = in_flight + held;
  return (
    load < LOW * target * replicas &&
    load <= target * (replicas - 1) &&
    (waiting ?? 0) === 0 &&
    (kv_usage ?? 0) * (replicas / (replicas - 1)) <= KV_FULL
  );
}

/** What the number of instances is made of with which a revision begins. */
export interface InitialSituation {
  /** The revision's own. */
  scaling: ScalingSpec;
  /** Its deployment's. */
  override: Partial<ScalingSpec> | null;
  /** The most that a revision has whose traffic it takes over; 0 where it takes none. */
  baseline: number;
  /** Its own, that are wanted already. */
  running: number;
}

/** `least` is refused or waited for where there is no capacity; what is beyond it is left out. */
export interface InitialReplicas {
  least: number;
  wished: number;
}

/**
 * How many instances a revision begins with: as many as those have that had the traffic before it, as far as its scaling lets it, so that it
 * does not begin under load with one; and what its deployment asks for. What it asks for itself is its least.
 */
export function initialReplicas({ scaling, override, baseline, running }: InitialSituation): InitialReplicas {
  const { least, most } = replicaBounds(effectiveScaling(scaling, override));
  const own = Math.max(1, scaling.min_replicas);
  return { least: Math.max(running, Math.min(least, own)), wished: Math.max(running, least, Math.min(baseline, most)) };
}

/** @param capacity instances that target, devices and quota leave it; Infinity where nothing bounds them */
export function withinCapacity({ least, wished }: InitialReplicas, capacity: number): number {
  return Math.max(least, Math.min(wished, capacity));
}
