import type { Layout } from '../../../forms/layout.js';

export const SET_POLICY: Layout = {
  operation: 'setContinualOptimizationPolicy',
  shown: { '': ['mode', 'objective', 'slos', 'promotion'] },
  words: { slos: { label: 'SLOs' }, 'experiment_budget.max_gpu_hours': { label: 'Max GPU hours' } },
};
