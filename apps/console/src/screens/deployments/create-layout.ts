import type { Layout } from '../../forms/layout.js';

export const CREATE_DEPLOYMENT: Layout = {
  operation: 'createDeployment',
  shown: {
    '': ['name', 'display_name', 'description', 'environment', 'labels'],
    'default_strategy.steps[]': ['traffic_percent', 'soak_seconds', 'requires_approval'],
    'default_analysis.metrics[]': ['name', 'stat', 'check', 'threshold', 'max_regression_percent', 'min_samples'],
  },
  words: {
    name: {
      hint: 'What clients send as model: small letters, digits and hyphens. It stays.',
      mismatch: 'Small letters, digits and hyphens between them, at most 63',
    },
    display_name: { label: 'Name for people' },
    environment: { placeholder: 'staging', hint: 'Changes of what is in production ask for its name first.' },
  },
};
