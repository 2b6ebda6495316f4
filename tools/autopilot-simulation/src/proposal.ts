import type { ArrivalCount, ServiceRecord } from '@slipway/dataplane';
import {
  diagnose,
  isOutside,
  Predictor,
  type Diagnosis,
  type DiagnosisInput,
  type Goal,
  type Interval,
} from '@slipway/diagnosis';

/** A deployment with a fixed number of instances, and what was recorded of it. */
export interface Question {
  goal: Goal;
  evidence: { minSamples: number; confidence: number };
  replicas: number;
  spareReplicas: number;
  /** Slots by the arguments of the engine; undefined if not declared. */
  slots: number | undefined;
  /** All records; those of the time that is judged are the last ones. */
  records: readonly ServiceRecord[];
  windowMinutes: number;
  arrivals: readonly ArrivalCount[];
}

/** The answer of the autopilot. */
export interface Advice {
  diagnosis: Diagnosis;
  /** Null: no plan. */
  replicas: number | null;
  peakRate: number | null;
  /** Prediction for the goal; null if it has none. @param rate requests per second */
  predict(replicas: number, rate: number): Interval | null;
}

/** Diagnoses, and decides as the rules of the autopilot do, for a deployment with a fixed number of instances. */
export function advise(question: Question): Advice {
  const { goal, evidence, replicas: now, spareReplicas, slots } = question;
  const input: DiagnosisInput = {
    goals: [goal],
    evidence,
    window: question.records.slice(-question.windowMinutes),
    history: question.records,
    arrivals: question.arrivals,
    declared: {},
    pool: { replicas: now, ...(slots !== undefined && { slots }) },
    errorLimit: 0.05,
    calibration: [],
  };
  const predictor = new Predictor(input);
  const diagnosis = diagnose(input, predictor);
  const predict: Advice['predict'] = (replicas, rate) => {
    const found = predictor.predict(goal, replicas, rate);
    return 'value' in found ? found : null;
  };
  const none: Advice = { diagnosis, replicas: null, peakRate: predictor.peakRate, predict };
  const { needed } = diagnosis;
  if (needed === null) return none;
  const cause = diagnosis.goals[0]?.cause;
  if (cause === 'load_dependent' && needed > now) return { ...none, replicas: needed };
  const fewer = Math.max(1, needed + spareReplicas);
  // The whole interval of the prediction must be inside the goal, with one instance fewer as with all that go.
  const isSafe = (replicas: number): boolean => {
    const found = predictor.predict(goal, replicas);
    return 'value' in found && !isOutside(goal, found.high) && !isOutside(goal, found.low);
  };
  return cause === 'met' && fewer < now && isSafe(now - 1) && isSafe(fewer) ? { ...none, replicas: fewer } : none;
}
