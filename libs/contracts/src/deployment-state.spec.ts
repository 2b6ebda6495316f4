import { expect, it } from '@jest/globals';
import { isProduction, shownDeploymentState } from './deployment-state.js';

const none = { active_revision: null, candidate_revision: null, previous_revision: null, current_operation_id: null };

it.each([
  ['creating', {}, 'empty'],
  ['creating', { current_operation_id: 'op_1' }, 'creating'],
  ['creating', { candidate_revision: 'chat-00001' }, 'creating'],
  ['failed', {}, 'failed'],
  ['deleting', {}, 'deleting'],
  ['active', { active_revision: 'chat-00001' }, 'active'],
] as const)('%s with %j is shown as %s', (state, facts, shown) =>
  expect(shownDeploymentState({ ...none, ...facts, state })).toBe(shown),
);

it.each([
  ['production', true],
  ['prod', true],
  ['Production', true],
  ['staging', false],
  ['preproduction', false],
  [null, false],
  [undefined, false],
] as const)('a deployment in the environment %s needs its name to be typed: %s', (environment, isNeeded) =>
  expect(isProduction(environment)).toBe(isNeeded),
);
