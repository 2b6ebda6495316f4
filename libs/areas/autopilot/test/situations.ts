import type { RevisionSpec } from '@slipway/contracts';
import type { PolicyContent } from '@slipway/ports/policies';
import { draftOf } from '../src/rounds/draft.js';
import { evaluate } from '../src/rounds/evaluation.js';
import type { Finding, Proposal, ProposalHistory, ReviewRecords, Situation } from '../src/rounds/situation.js';
import { NOW, recordsOf, type Service } from './records.js';

export { NOW };

type Sections = {
  [K in keyof PolicyContent]?: PolicyContent[K] extends unknown[] | string
    ? PolicyContent[K]
    : Partial<PolicyContent[K]>;
};

export const SLO = { metric: 'ttft_ms', stat: 'p95', threshold: 1_200 } as const;

/** A policy with the defaults of the API. */
export function policyOf(sections: Sections): PolicyContent {
  return {
    mode: sections.mode ?? 'recommend',
    ...(sections.workload ? { workload: sections.workload } : {}),
    ...(sections.objective ? { objective: sections.objective as PolicyContent['objective'] & object } : {}),
    slos: sections.slos ?? [SLO],
    evidence: {
      min_samples: 50,
      min_duration_seconds: 1800,
      max_age_seconds: 604_800,
      confidence: 0.95,
      ...sections.evidence,
    },
    experiment_budget: { max_parallel: 1, max_traffic_percent: 5, period: 'month', ...sections.experiment_budget },
    reliability: {
      min_replicas: 1,
      spare_replicas: 0,
      right_size_after_seconds: 604_800,
      freeze_windows: [],
      ...sections.reliability,
    },
    promotion: {
      approvals_required: 1,
      prevent_self_approval: true,
      require_hosted_identity: false,
      max_step_percent: 25,
      cooldown_seconds: 86_400,
      plan_ttl_seconds: 604_800,
      min_gain_percent: 5,
      outcome_window_seconds: 86_400,
      ...sections.promotion,
    },
  };
}

export const SPEC: RevisionSpec = {
  model: { id: 'm' },
  runtime: { target: 'local', engine: 'sim', args: {}, env: {} },
  scaling: { min_replicas: 1 },
};

export function specOf(scaling: RevisionSpec['scaling']): RevisionSpec {
  return { ...SPEC, scaling };
}

export interface SituationChanges extends Partial<Omit<Situation, 'history' | 'policy' | 'records'>> {
  policy?: Sections;
  records?: ReviewRecords | undefined;
  service?: Partial<Service>;
  history?: Partial<ProposalHistory>;
}

/** One replica whose TTFT p95 is far above its SLO, met at lower loads; nothing forbids a proposal. */
export function situation(changes: SituationChanges = {}): Situation {
  const { history, policy = {}, service, ...rest } = changes;
  return {
    now: NOW,
    deploymentName: 'chat',
    policy: policyOf(policy),
    spec: SPEC,
    override: null,
    records: 'records' in changes ? changes.records : recordsOf(service),
    isChanging: false,
    history: { hasOpenPlan: false, lastProposedAt: null, proposedInPeriod: 0, gpuHoursInPeriod: 0, ...history },
    devices: { accelerator: null, count: 0 },
    engineVersion: null,
    price: null,
    calibration: [],
    failedIdeas: [],
    ...rest,
  };
}

/** A week in which four replicas had little to do; before, one had more. */
export const QUIET_WEEK: Partial<Service> = {
  loadIn: (minute) => (minute < 90 ? 1 + (minute % 6) * 2 : 1),
  instancesIn: (minute) => (minute < 90 ? 1 : 4),
  olderMinutes: 7 * 24 * 60,
};

export const quietWeek = (changes: SituationChanges = {}): Situation =>
  situation({ spec: specOf({ min_replicas: 4 }), service: QUIET_WEEK, ...changes });

export function findingOf(changes: SituationChanges = {}): Finding {
  return evaluate(situation(changes)).finding;
}

/** Such as `missed freeze_window`. */
export function outcomeOf(of: Situation): string {
  const { finding } = evaluate(of);
  return finding.kind === 'propose' ? 'propose' : `${finding.kind} ${finding.because}`;
}

/** The first proposal, as paths and values. */
export function changesOf(of: Situation): string[] {
  const option = proposalOf(of);
  return option ? option.changes.map(({ path, value }) => `${path} ${String(value)}`) : [outcomeOf(of)];
}

export function proposalOf(of: Situation): Proposal | undefined {
  const { finding } = evaluate(of);
  return finding.kind === 'propose' ? finding.options[0] : undefined;
}

export function draftFor(of: Situation & { records: ReviewRecords }) {
  const evaluation = evaluate(of);
  if (evaluation.finding.kind !== 'propose') throw new Error(`no proposal: ${outcomeOf(of)}`);
  const [option] = evaluation.finding.options;
  return draftOf(option as Proposal, { name: 'chat-00001', spec: of.spec }, of, evaluation);
}
