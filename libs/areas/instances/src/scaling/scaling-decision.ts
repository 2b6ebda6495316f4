import { effectiveScaling, type EffectiveScaling, type ScalingSpec } from '@slipway/contracts';

/** Below this share of the target load, one instance may be removed. */
const LOW = 0.6;
/** Share of the memory for keys and values. Above it, long contexts begin to be evicted and computed again. */
const KV_FULL = 0.85;
/** The seconds between a failed start out of sleep and the next one are 1, 2, 4 … 60. */
const LONGEST_BACK_OFF_SECONDS = 60;

/**
 * The directions in which the number of a deployment's instances may follow the load. An operation owns the number only
 * while it starts or stops instances. During a soak the number may only rise, and during a pause it also falls.
 */
export type ScalingDirections = 'none' | 'up' | 'both';

/** The input of a decision. Ages are seconds, by the clock of Postgres. */
export interface ScalingSituation {
  scaling: EffectiveScaling;
  /** Instances that are wanted now. */
  replicas: number;
  ready: number;
  /** Instances whose start has begun and not ended. */
  starting: number;
  /** Requests at the gateways: those sent to an instance, and those waiting for one. */
  in_flight: number;
  held: number;
  /** The same of all revisions of its deployment together, if an operation may give this one all of them; else 0. */
  expected_load: number;
  /** Sum of the requests that the engines queue; null if unknown. */
  waiting: number | null;
  /** Mean over the engines, 0..1; null if unknown. */
  kv_usage: number | null;
  /** Seconds since the last request, or since it was wanted if that is later. */
  idle_age_seconds: number;
  /** Seconds since the newest instance became ready, and how long that start took; null if none is ready. */
  ready_age_seconds: number | null;
  start_seconds: number | null;
  /** Seconds for which the load has been low without interruption; null if it is not low. */
  low_age_seconds: number | null;
  /** Whether it slept, and no instance has been ready since. */
  isAsleep: boolean;
  /** Why the start that should end the sleep failed. */
  failure: string | null;
  /** Number of consecutive failed starts, and seconds since the last one. */
  failures: number;
  failure_age_seconds: number | null;
  directions: ScalingDirections;
  /** Whether an operation waits for instances of this revision. The operation judges their starts itself. */
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
  /** Null if nothing changes. */
  reason: ScalingReason | null;
  /** Whether fewer instances would be enough now. The caller stores since when this has been true. */
  isLow: boolean;
}

/** Returns the minimum and maximum number of instances of a revision that does not sleep. */
export function replicaBounds({ min_replicas, max_replicas, target_in_flight }: EffectiveScaling) {
  const least = Math.max(1, min_replicas);
  return { least, most: target_in_flight === null ? least : max_replicas };
}

/** Returns the seconds between a failed start out of sleep and the next one. */
export function wakeBackOffSeconds(failures: number): number {
  return failures === 0 ? 0 : Math.min(LONGEST_BACK_OFF_SECONDS, 2 ** (failures - 1));
}

/**
 * Decides how many instances a revision has. No other function does. It depends only on its input, so a decision that
 * was not written is repeated.
 *
 * It scales up at once, to the largest number that a signal requires. It scales down one instance at a time, and only
 * if the rest could have served all load in the meantime. So the next sample does not bring the instance back. The
 * number does not go down while an instance starts. An operation of the deployment limits the directions, but a sleeping
 * revision is always woken, because requests wait for it.
 */
export function decideScaling(now: ScalingSituation): ScalingDecision {
  const { replicas, scaling } = now;
  if (now.isAsleep) return asleep(now);
  if (now.directions === 'none') return { replicas, reason: null, isLow: false };
  const mayFall = now.directions === 'both';
  const isLow = wouldFewerDo(now);
  const { least, most } = replicaBounds(scaling);
  if (replicas < least) return { replicas: least, reason: 'min_replicas', isLow: false };
  if (mayFall && replicas > most) return { replicas: most, reason: 'max_replicas', isLow: false };
  if (mayFall && isIdle(now)) return { replicas: 0, reason: 'idle', isLow: false };
  const { replicas: wished, reason } = largestWish(now);
  const up = Math.min(most, wished);
  if (up > replicas) return { replicas: up, reason, isLow: false };
  const isLongLow = isLow && now.low_age_seconds !== null && now.low_age_seconds >= scaling.scale_down_after_seconds;
  if (mayFall && isLongLow && now.starting === 0 && replicas > least)
    return { replicas: replicas - 1, reason: 'low_load', isLow: false };
  return { replicas, reason: null, isLow };
}

/** Whether the load requires more instances than `max_replicas` allows, so that the scaler can add none. */
export function isAtMaximum(now: ScalingSituation): boolean {
  const { most } = replicaBounds(now.scaling);
  return now.scaling.target_in_flight !== null && now.replicas >= most && largestWish(now).replicas > most;
}

/**
 * Wakes with one start for any number of waiting requests. If the start fails, the revision sleeps again, and the next
 * start waits for the back-off.
 */
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

/**
 * The time of a start is no idle time, so the last start counts as a request at its end. The client that caused it may
 * have left, and must find the instance when it returns. Until the first request after the start, the instance stays at
 * least as long as its start took.
 */
function isIdle(now: ScalingSituation): boolean {
  const { scaling, idle_age_seconds, ready_age_seconds: ready, start_seconds, in_flight, held, starting } = now;
  if (scaling.idle_seconds === null || in_flight > 0 || held > 0 || starting > 0 || now.isAwaited) return false;
  if (ready === null || idle_age_seconds < ready) return idle_age_seconds >= scaling.idle_seconds;
  return ready >= Math.max(scaling.idle_seconds, start_seconds ?? 0);
}

/** Reports of engines are late and cover only running instances, so they count once all instances have started. */
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

/**
 * A revision that may get the requests of others at the next step of an operation must be able to serve them. It gives
 * up only what it would not need for all of them.
 */
function wouldFewerDo(now: ScalingSituation): boolean {
  const { scaling, replicas, in_flight, held, expected_load, waiting, kv_usage } = now;
  const target = scaling.target_in_flight;
  if (target === null || replicas <= 1) return false;
  const load = Math.max(in_flight + held, expected_load);
  return (
    load < LOW * target * replicas &&
    load <= target * (replicas - 1) &&
    (waiting ?? 0) === 0 &&
    (kv_usage ?? 0) * (replicas / (replicas - 1)) <= KV_FULL
  );
}

/** The input for the number of instances with which a revision begins. */
export interface InitialSituation {
  /** The revision's own scaling. */
  scaling: ScalingSpec;
  /** The overrides of its deployment. */
  override: Partial<ScalingSpec> | null;
  /** The largest number of instances of a revision whose traffic it takes over; 0 if it takes over none. */
  baseline: number;
  /** Its own instances that are already wanted. */
  running: number;
}

/**
 * Without capacity for `least`, the rollout waits or is refused. Instances beyond `least` are omitted without capacity.
 */
export interface InitialReplicas {
  least: number;
  wished: number;
}

/**
 * Computes how many instances a revision begins with. It begins with as many as the revisions before it, within its own
 * scaling, so that it does not face the full load with one instance. The overrides of its deployment count too. Its own
 * minimum is `least`.
 */
export function initialReplicas({ scaling, override, baseline, running }: InitialSituation): InitialReplicas {
  const { least, most } = replicaBounds(effectiveScaling(scaling, override));
  const own = Math.max(1, scaling.min_replicas);
  return { least: Math.max(running, Math.min(least, own)), wished: Math.max(running, least, Math.min(baseline, most)) };
}

/** @param capacity instances that target, devices and quota allow; Infinity if nothing limits them */
export function withinCapacity({ least, wished }: InitialReplicas, capacity: number): number {
  return Math.max(least, Math.min(wished, capacity));
}
