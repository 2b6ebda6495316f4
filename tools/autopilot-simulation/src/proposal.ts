import {
  diagnosisInputOf,
  draftOf,
  evaluate,
  type PlanDraft,
  type ReviewRecords,
  type Situation,
} from '@slipway/area-autopilot/rounds';
import type { ArrivalCount, ServiceRecord } from '@slipway/dataplane';
import { Predictor, type Diagnosis, type Goal, type Interval } from '@slipway/diagnosis';
import type { FailedIdea } from '@slipway/ports/plans';

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
  /** The largest |ln(achieved ÷ predicted)| of each earlier plan of the tenant. */
  calibration?: readonly number[];
  failedIdeas?: readonly FailedIdea[];
  /** Of the deployment. */
  model?: string;
}

/** The answer of the autopilot. */
export interface Advice {
  diagnosis: Diagnosis;
  /** Null: no plan. */
  replicas: number | null;
  plan: PlanDraft | null;
  /** The reason for no plan, such as `barred`; null with a plan. */
  because: string | null;
  situation: Situation;
  peakRate: number | null;
  /** Prediction for the goal; null if it has none. @param rate requests per second */
  predict(replicas: number, rate: number): Interval | null;
}

/** Asks the autopilot, as a round does, with a policy that only has this goal. */
export function advise(question: Question): Advice {
  const situation = situationOf(question);
  const evaluation = evaluate(situation);
  const { finding, diagnosis } = evaluation;
  const predictor = new Predictor(diagnosisInputOf(situation, situation.records));
  const option = finding.kind === 'propose' ? finding.options[0] : undefined;
  return {
    diagnosis: diagnosis as Diagnosis,
    replicas: option?.replicas.to ?? null,
    plan: option ? draftOf(option, { name: 'revision', spec: situation.spec }, situation, evaluation) : null,
    because: 'because' in finding ? finding.because : null,
    situation,
    peakRate: predictor.peakRate,
    predict(replicas, rate) {
      const found = predictor.predict(question.goal, replicas, rate);
      return 'value' in found ? found : null;
    },
  };
}

function situationOf(question: Question): Situation & { records: ReviewRecords } {
  const { goal, evidence, replicas, spareReplicas, slots, windowMinutes } = question;
  const history = [...question.records];
  const window = history.slice(-windowMinutes);
  const to = new Date((history.at(-1) as ServiceRecord).at.getTime() + 60_000);
  return {
    now: to,
    deploymentName: 'simulation',
    policy: {
      mode: 'recommend',
      slos: [goal],
      evidence: {
        min_samples: evidence.minSamples,
        min_duration_seconds: 60 * windowMinutes,
        max_age_seconds: 604_800,
        confidence: evidence.confidence,
      },
      experiment_budget: { max_parallel: 1, max_traffic_percent: 5, period: 'month' },
      // Patience would hide a plan that is wrong.
      reliability: { min_replicas: 1, spare_replicas: spareReplicas, right_size_after_seconds: 0, freeze_windows: [] },
      promotion: {
        approvals_required: 1,
        prevent_self_approval: true,
        require_hosted_identity: false,
        max_step_percent: 25,
        cooldown_seconds: 0,
        plan_ttl_seconds: 604_800,
        min_gain_percent: 5,
        outcome_window_seconds: 2 * 60 * windowMinutes,
      },
    },
    spec: {
      model: { id: question.model ?? 'model' },
      runtime: { target: 'local', engine: 'vllm', args: slots === undefined ? {} : { max_num_seqs: slots }, env: {} },
      scaling: { min_replicas: replicas },
    },
    override: null,
    records: {
      revisionId: 'revision',
      from: (window[0] as ServiceRecord).at,
      to,
      window,
      history,
      arrivals: [...question.arrivals],
      availability: { minutes: window.length, refusedMinutes: 0 },
    },
    isChanging: false,
    history: { hasOpenPlan: false, lastProposedAt: null, proposedInPeriod: 0, gpuHoursInPeriod: 0 },
    devices: { accelerator: null, count: 0 },
    engineVersion: null,
    price: null,
    calibration: question.calibration ?? [],
    failedIdeas: question.failedIdeas ?? [],
  };
}
