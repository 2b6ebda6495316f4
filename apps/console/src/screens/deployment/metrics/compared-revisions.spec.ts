import { expect, it } from '@jest/globals';
import { comparedRevisions } from './compared-revisions.js';

const served = { active_revision: 'chat-00002', candidate_revision: null, previous_revision: 'chat-00001' };
const rollout = (revision: unknown) => ({ kind: 'rollout', result: { revision } });

it.each([
  [
    'a candidate with the active revision',
    { ...served, candidate_revision: 'chat-00003' },
    rollout('chat-00003'),
    'chat-00003',
    'chat-00002',
    true,
  ],
  ['a candidate that was rolled back', served, rollout('chat-00003'), 'chat-00003', 'chat-00002', true],
  ['a promoted revision with the previous one', served, rollout('chat-00002'), 'chat-00002', 'chat-00001', true],
  [
    'the active revision after a rollback',
    served,
    { kind: 'rollback', result: { revision: 'chat-00001' } },
    'chat-00002',
    'chat-00001',
    false,
  ],
  [
    'the active revision if the record contains nothing usable',
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
