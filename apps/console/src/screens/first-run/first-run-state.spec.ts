import { expect, it } from '@jest/globals';
import { stageOf } from './first-run-state.js';

const NEW = { active_revision: null, current_operation_id: null };

it.each([
  ['create', null, undefined],
  ['roll_out', NEW, undefined],
  ['roll_out', NEW, { status: 'failed' }],
  ['rolling_out', NEW, { status: 'running' }],
  ['rolling_out', { ...NEW, current_operation_id: 'op_1' }, undefined],
  ['rolling_out', { ...NEW, current_operation_id: 'op_1' }, { status: 'succeeded' }],
  ['send', { ...NEW, active_revision: 'first-00001' }, { status: 'succeeded' }],
  ['send', { ...NEW, active_revision: 'first-00001' }, undefined],
])('is at %s', (stage, deployment, operation) => expect(stageOf(deployment, operation)).toBe(stage));
