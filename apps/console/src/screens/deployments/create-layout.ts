import type { Layout } from '../../forms/layout.js';

export const CREATE_DEPLOYMENT: Layout = {
  operation: 'createDeployment',
  shown: {
    '': ['name', 'display_name', 'description', 'environment', 'labels'],
    'default_strategy.steps[]': ['traffic_percent', 'soak_seconds', 'requires_approval', 'pause'],
    'default_strategy.bake.metrics[]': ['name', 'stat', 'check', 'threshold', 'min_samples'],
    'default_analysis.metrics[]': ['name', 'stat', 'check', 'threshold', 'max_regression_percent', 'min_samples'],
  },
  words: {
    name: {
      hint: 'Clients send this name as model. Use lowercase letters, digits and hyphens. It cannot be changed.',
      mismatch: 'Lowercase letters, digits and inner hyphens, at most 63 characters',
    },
    environment: { placeholder: 'staging', hint: 'In production, you type the deployment name to confirm a change.' },
  },
};
