import type { Layout } from '../../../forms/layout.js';

/** The screen knows the content of the active revision, and the arguments that the operator's engine declares. */
const FIXED = ['spec_patch', 'base_revision', 'expected_active_revision'];

export const ROLLOUT: Layout = {
  operation: 'createRollout',
  shown: {
    '': ['spec', 'strategy', 'analysis', 'reason'],
    spec: ['model', 'runtime'],
    'spec.model': ['id', 'uri'],
    'spec.runtime': ['target', 'engine', 'args'],
    strategy: ['type', 'steps'],
    'strategy.steps[]': ['traffic_percent', 'soak_seconds', 'requires_approval'],
    analysis: ['metrics'],
    'analysis.metrics[]': ['name', 'stat', 'check', 'threshold', 'max_regression_percent', 'min_samples'],
  },
  fixed: FIXED,
  aliases: { spec_patch: 'spec' },
  words: {
    spec: { hint: '' },
    strategy: { label: 'Traffic' },
    'strategy.steps': { label: 'Steps' },
    analysis: { label: 'Gate at the end of each soak' },
    'analysis.metrics[].name': { label: 'Metric' },
    'analysis.metrics[].stat': { label: 'Statistic' },
    reason: { hint: 'Shown in the operation and in the audit log.' },
  },
};

/** For a strategy that moves all traffic at once, or none. */
export const ROLLOUT_AT_ONCE: Layout = { ...ROLLOUT, fixed: [...FIXED, 'strategy.steps', 'analysis'] };

export const ROLLBACK: Layout = {
  operation: 'createRollback',
  shown: { '': ['to_revision', 'reason'] },
  words: { reason: { hint: 'Shown in the operation and in the audit log.' } },
};
