import {
  sendReadyRequest,
  startFailure,
  type InstanceSpec,
  type Observation,
  type ReadyAnswer,
  type TargetDriver,
} from '@slipway/target-driver';
import type { InstanceRow } from '../workloads/instance.query.js';
import { DEFAULT_INSTANCE_TIMINGS, type InstanceTimings } from '../catalog/timings.js';

/** Pace of checks while the answer is awaited. */
export const ANSWER_CHECK_MS = 500;
/** Most answers arrive within this time. The task of the instance waits for these, and no longer. */
const PATIENCE_MS = 500;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** An engine that took nearly all its time to load still gets a chance to answer. */
const LEAST_LIMIT_MS = 10_000;
const DEFAULT_READY_SECONDS = 60;

/** The requests to one life of a server. */
interface ReadyTrial {
  life: string;
  beganAt: number;
  limitMs: number;
  running?: Promise<void>;
  last?: ReadyAnswer;
  attempts: number;
  nextAt: number;
  /** When the refusals began that no other answer has interrupted. */
  refusedSince?: number;
}

/**
 * Proves that a server answers requests before it is published: a health path only shows that it listens. One answered
 * request is enough for a start or an adoption. The requests run in addition to the checks of the instance, because an
 * engine may load its model first, and are repeated until one of them is answered.
 */
export class ReadyRequests {
  private readonly trials = new Map<string, ReadyTrial>();

  constructor(
    private readonly timings: Pick<InstanceTimings, 'refusedAfterMs'> = DEFAULT_INSTANCE_TIMINGS,
    private readonly send: typeof sendReadyRequest = sendReadyRequest,
  ) {}

  /** Returns the observation of a healthy server, as its answer to the request changes it. */
  async prove(
    driver: TargetDriver,
    instance: Pick<InstanceRow, 'id' | 'state' | 'state_age_seconds'>,
    spec: InstanceSpec,
    seen: Observation,
  ): Promise<Observation> {
    const trial = this.trialOf(driver, instance, spec, seen);
    if (!trial.running && performance.now() >= trial.nextAt) trial.running = this.attempt(driver, spec, seen, trial);
    if (trial.running) await Promise.race([trial.running, pause(PATIENCE_MS)]);
    if (trial.last?.is !== 'answered') return this.unproven(trial, seen);
    this.trials.delete(instance.id);
    return seen;
  }

  forget(instanceId: string): void {
    this.trials.delete(instanceId);
  }

  private trialOf(
    driver: TargetDriver,
    { id, state, state_age_seconds: age }: Pick<InstanceRow, 'id' | 'state' | 'state_age_seconds'>,
    spec: InstanceSpec,
    { incarnation, baseUrl }: Observation,
  ): ReadyTrial {
    const life = JSON.stringify([spec.generation, incarnation, baseUrl]);
    const known = this.trials.get(id);
    if (known?.life === life) return known;
    const readyMs = (driver.traits?.(spec)?.readyTimeoutSeconds ?? DEFAULT_READY_SECONDS) * 1_000;
    const spentMs = state === 'starting' ? age * 1_000 : 0;
    const limitMs = Math.max(LEAST_LIMIT_MS, Math.round(readyMs - spentMs));
    const trial = { life, beganAt: performance.now(), limitMs, attempts: 0, nextAt: -Infinity };
    this.trials.set(id, trial);
    return trial;
  }

  private async attempt(driver: TargetDriver, spec: InstanceSpec, seen: Observation, trial: ReadyTrial): Promise<void> {
    const server = driver.callable(spec, seen.baseUrl ?? '');
    const answer = await this.send(server, driver.traits?.(spec)?.serves, trial.limitMs);
    const now = performance.now();
    trial.attempts += 1;
    trial.nextAt = now + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(trial.attempts - 1, 10));
    trial.refusedSince = answer.is === 'refused' ? (trial.refusedSince ?? now) : undefined;
    trial.last = answer;
    trial.running = undefined;
  }

  private unproven({ last, beganAt, limitMs, refusedSince }: ReadyTrial, seen: Observation): Observation {
    const now = performance.now();
    const message =
      last === undefined || last.is === 'answered' ? 'waiting for the answer to its first request' : last.message;
    const unready = { ...seen, message };
    if (refusedSince !== undefined && now - refusedSince >= this.timings.refusedAfterMs)
      return { ...unready, state: 'unhealthy', reason: 'request_refused', failure: failureOf('request_refused') };
    if (now - beganAt < limitMs) return { ...unready, state: 'starting', reason: 'loading' };
    return { ...unready, state: 'unhealthy', reason: 'start_timeout', failure: failureOf('start_timeout') };
  }
}

const failureOf = (known: 'request_refused' | 'start_timeout') => startFailure({ code: null, signal: null, known }, []);

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
