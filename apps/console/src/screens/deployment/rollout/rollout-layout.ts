import type { Layout } from '../../../forms/layout.js';
import { canBake, hasSteps } from './rollout-form.js';

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
    'strategy.steps[]': ['traffic_percent', 'soak_seconds', 'requires_approval', 'pause'],
    'strategy.bake.metrics[]': ['name', 'stat', 'check', 'threshold', 'min_samples'],
    analysis: ['metrics'],
    'analysis.metrics[]': ['name', 'stat', 'check', 'threshold', 'max_regression_percent', 'min_samples'],
  },
  fixed: FIXED,
  aliases: { spec_patch: 'spec' },
  words: {
    spec: { hint: '' },
    strategy: { label: 'Traffic' },
    'strategy.steps': { label: 'Steps' },
    'strategy.bake': { label: 'Bake after the promotion' },
    'strategy.bake.metrics': { label: 'Bake metrics' },
    'strategy.bake.metrics[].name': { label: 'Metric' },
    'strategy.bake.metrics[].stat': { label: 'Statistic' },
    analysis: { label: 'Gate at the end of each soak' },
    'analysis.metrics[].name': { label: 'Metric' },
    'analysis.metrics[].stat': { label: 'Statistic' },
    reason: { hint: 'Shown in the operation and in the audit log.' },
  },
};

/** For a strategy that may stop the previous revision, so that nothing could roll back to it. */
export const ROLLOUT_WITHOUT_BAKE: Layout = { ...ROLLOUT, fixed: [...FIXED, 'strategy.bake'] };

/** For a strategy that moves all traffic at once. */
export const ROLLOUT_AT_ONCE: Layout = { ...ROLLOUT, fixed: [...FIXED, 'strategy.steps', 'analysis'] };

/** For a strategy that moves no traffic, and for none. */
export const ROLLOUT_UNROUTED: Layout = { ...ROLLOUT, fixed: [...ROLLOUT_AT_ONCE.fixed!, 'strategy.bake'] };

/** Returns the layout for a type of strategy; `''` is none. */
export function rolloutLayoutOf(strategy: string): Layout {
  if (!hasSteps(strategy)) return strategy === 'immediate' ? ROLLOUT_AT_ONCE : ROLLOUT_UNROUTED;
  return canBake(strategy) ? ROLLOUT : ROLLOUT_WITHOUT_BAKE;
}

export const ROLLBACK: Layout = {
  operation: 'createRollback',
  shown: { '': ['to_revision', 'reason'] },
  words: { reason: { hint: 'Shown in the operation and in the audit log.' } },
};
