import { describe, expect, it } from '@jest/globals';
import type { WaitReason } from '../api/operation-state.js';
import { deploymentWaitCommand, WAIT_REASONS, waitCommand, waitNoun, waitSentence } from './waiting-text.js';

const PAUSE = { at: '2026-01-02T03:04:05.000Z', by: { type: 'token', id: 'tok_1' }, reason: null };
const rollout = (waiting_for: WaitReason | null, pause: typeof PAUSE | null = null) => ({
  id: 'op_1',
  kind: 'rollout',
  resource_name: 'chat',
  waiting_for,
  pause,
});

describe('the words for a wait', () => {
  it.each(WAIT_REASONS)('exist for %s', (reason) => expect(waitNoun(reason)).not.toBe(''));

  it('are the words of the api for a reason of a later version', () => expect(waitNoun('new_moon')).toBe('new moon'));

  it('explain what a person has to do, and nothing for a soak, which ends by itself', () => {
    expect(waitSentence(rollout('approval'))).toMatch(/must approve/);
    expect(waitSentence(rollout('decision'))).toMatch(/no clear result/);
    expect(waitSentence(rollout('soak'))).toBeUndefined();
    expect(waitSentence(rollout(null))).toBeUndefined();
  });

  it('distinguish a pause of a person from a step that pauses', () => {
    expect(waitSentence(rollout('resume', PAUSE))).toMatch(/is paused/);
    expect(waitSentence(rollout('resume'))).toMatch(/step that pauses/);
    // The instances of a paused rollout may still be starting.
    expect(waitSentence(rollout('capacity', PAUSE))).toMatch(/is paused/);
  });
});

describe('the command that ends a wait', () => {
  it.each<[WaitReason | null, string | undefined]>([
    ['approval', 'slipway rollouts promote chat'],
    ['decision', 'slipway rollouts promote chat'],
    ['resume', 'slipway rollouts resume chat'],
    ['traffic', 'slipway rollouts promote chat'],
    ['soak', undefined],
    ['capacity', undefined],
    [null, undefined],
  ])('of a rollout that waits for %s is %s', (reason, command) => {
    expect(waitCommand(rollout(reason))).toBe(command);
    expect(deploymentWaitCommand('chat', reason)).toBe(command);
  });

  it('resumes a paused rollout, whatever else it waits for', () =>
    expect(waitCommand(rollout('traffic', PAUSE))).toBe('slipway rollouts resume chat'));

  it('names the operation if it is no rollout', () =>
    expect(waitCommand({ ...rollout('approval'), kind: 'other' })).toBe('slipway operations resume op_1'));
});
