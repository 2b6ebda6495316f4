import { expect, it } from '@jest/globals';
import { comparedRevisions } from './compared-revisions.js';

const served = { active_revision: 'chat-00002', candidate_revision: null, previous_revision: 'chat-00001' };
const rollout = (revision: unknown) => ({ kind: 'rollout', result: { revision } });

it.each([
  [
    'a candidate beside the active one',
    { ...served, candidate_revision: 'chat-00003' },
    rollout('chat-00003'),
    'chat-00003',
    'chat-00002',
    true,
  ],
  ['one that was put back', served, rollout('chat-00003'), 'chat-00003', 'chat-00002', true],
  [
    'one that has been promoted, beside the one before it',
    served,
    rollout('chat-00002'),
    'chat-00002',
    'chat-00001',
    true,
  ],
  [
    'the active one where there was a rollback',
    served,
    { kind: 'rollback', result: { revision: 'chat-00001' } },
    'chat-00002',
    'chat-00001',
    false,
  ],
  [
    'the active one where the record tells nothing usable',
    served,
    rollout({ a: 1 }),
    'chat-00002',
    'chat-00001',
    false,
  ],
] as const)('compares %s', (_, deployment, operation, candidate, baseline, isRollout) =>
  expect(comparedRevisions(deployment, operation)).toEqual({ candidate, baseline, isRollout }),
);

it('compares nothing before anything is known', () =>
  expect(comparedRevisions(undefined, undefined)).toEqual({ candidate: null, baseline: null, isRollout: false }));
