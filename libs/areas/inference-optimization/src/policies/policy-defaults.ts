import type { PolicyContent } from '@slipway/ports/policies';
import { statOf } from './policy-rules.js';

export const DEFAULT_MODE: PolicyContent['mode'] = 'recommend';
export const DEFAULT_EVIDENCE: PolicyContent['evidence'] = {
  min_samples: 50,
  min_duration_seconds: 1_800,
  max_age_seconds: 604_800,
  confidence: 0.95,
};
export const DEFAULT_BUDGET: PolicyContent['experiment_budget'] = {
  max_parallel: 1,
  max_traffic_percent: 5,
  period: 'month',
};
export const DEFAULT_RELIABILITY: PolicyContent['reliability'] = {
  min_replicas: 1,
  spare_replicas: 0,
  // A week, so that a quiet weekend triggers no proposal.
  right_size_after_seconds: 604_800,
  freeze_windows: [],
};
export const DEFAULT_PROMOTION: PolicyContent['promotion'] = {
  approvals_required: 1,
  prevent_self_approval: true,
  require_hosted_identity: false,
  max_step_percent: 25,
  cooldown_seconds: 86_400,
  plan_ttl_seconds: 604_800,
  min_gain_percent: 5,
  outcome_window_seconds: 86_400,
};

type Sections = 'evidence' | 'experiment_budget' | 'reliability' | 'promotion';

/** A policy as clients send it, or as an earlier release stored it: later fields may be absent. */
export type PartialPolicy = Partial<Omit<PolicyContent, Sections | 'slos'>> & {
  [Section in Sections]?: Partial<PolicyContent[Section]>;
} & { slos?: (Omit<PolicyContent['slos'][number], 'stat'> & Partial<Pick<PolicyContent['slos'][number], 'stat'>>)[] };

/**
 * Fills in every default. Two policies with the same meaning are then equal, even if different releases stored them or
 * one author left out defaults.
 */
export function completePolicy({ slos = [], ...policy }: PartialPolicy): PolicyContent {
  return {
    ...policy,
    mode: policy.mode ?? DEFAULT_MODE,
    slos: slos.map((slo) => ({ ...slo, stat: statOf(slo) })),
    evidence: { ...DEFAULT_EVIDENCE, ...policy.evidence },
    experiment_budget: { ...DEFAULT_BUDGET, ...policy.experiment_budget },
    reliability: { ...DEFAULT_RELIABILITY, ...policy.reliability },
    promotion: { ...DEFAULT_PROMOTION, ...policy.promotion },
  };
}
