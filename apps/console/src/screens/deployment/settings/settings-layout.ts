import type { Layout } from '../../../forms/layout.js';

export const UPDATE_DEPLOYMENT: Layout = {
  operation: 'updateDeployment',
  shown: {
    '': ['display_name', 'description', 'labels', 'environment', 'revision_history_limit', 'default_strategy'],
    default_strategy: ['type', 'steps'],
    'default_strategy.steps[]': ['traffic_percent', 'soak_seconds', 'requires_approval', 'pause'],
    'default_strategy.bake.metrics[]': ['name', 'stat', 'check', 'threshold', 'min_samples'],
    'default_analysis.metrics[]': ['name', 'stat', 'check', 'threshold', 'max_regression_percent', 'min_samples'],
  },
  fixed: ['name'],
};

export const SET_ROUTE: Layout = {
  operation: 'setRoute',
  shown: { '': ['targets', 'affinity', 'reason'] },
  // The form has the complete route, and the api accepts one of both.
  fixed: ['revision'],
  words: {
    targets: { label: 'Traffic' },
    'targets[].weight': { label: 'Weight, %' },
    affinity: { hint: '' },
    reason: { hint: 'Shown in the event and in the audit log.' },
  },
};

export const RESTART: Layout = {
  operation: 'restartDeployment',
  shown: { '': ['reason'] },
  words: { reason: { hint: 'Shown in the event.' } },
};

/** The command takes shares such as `chat-00001=90,chat-00002=10`. */
export const SET_ROUTE_CLI = {
  words: 'routes set',
  flags: {
    targets: (targets: { revision: string; weight: number }[]) => [
      '--targets',
      targets.map(({ revision, weight }) => `${revision}=${weight}`).join(','),
    ],
  },
  end: '--yes',
};
