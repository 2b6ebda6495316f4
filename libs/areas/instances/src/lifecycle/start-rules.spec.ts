import { describe, expect, it } from '@jest/globals';
import type { ObservationReason } from '@slipway/contracts';
import type { WorkloadStatus } from '@slipway/ports/instances';
import { startRules } from './start-rules.js';

const { assertMayBecomeReady, lateFailure, troubleText } = startRules;

const waiting = (change: Partial<WorkloadStatus>): WorkloadStatus => ({
  desired: 2,
  ready: 1,
  alive: 2,
  baseUrls: [],
  restarts: 0,
  message: 'pull access denied for models/none',
  startingSeconds: 10,
  ...change,
});

describe('a wait for something that a person has to fix', () => {
  it.each(['image_pull_failed', 'config_error', 'admission_denied', 'invalid_template'] as const)(
    'continues for a minute with %s, in which it may be fixed, and no longer',
    (reason) => {
      expect(() => assertMayBecomeReady(waiting({ reason, startingSeconds: 59 }))).not.toThrow();
      let failed: unknown;
      try {
        assertMayBecomeReady(waiting({ reason, startingSeconds: 60 }));
      } catch (error) {
        failed = error;
      }
      expect(failed).toMatchObject({
        code: 'target_not_ready',
        message: `${reason}: pull access denied for models/none`,
        options: {
          stepMessage: '1 of 2 instances are ready, still failing after 60 s.',
          evidence: { cause: reason, ready: 1, desired: 2 },
        },
      });
      expect(() => assertMayBecomeReady(waiting({ reason, ready: 2, startingSeconds: 600 }))).not.toThrow();
    },
  );

  it.each(['unschedulable', 'quota_exceeded', 'loading', 'target_unavailable', null] as const)(
    'continues until its deadline with %s',
    (reason) => {
      expect(() => assertMayBecomeReady(waiting({ reason, startingSeconds: 86_400 }))).not.toThrow();
      expect(() => assertMayBecomeReady(waiting({ reason, startingSeconds: null }))).not.toThrow();
    },
  );
});

it.each<[ObservationReason | null, string]>([
  ['quota_exceeded', 'capacity_exhausted'],
  ['unschedulable', 'capacity_exhausted'],
  ['gated', 'capacity_exhausted'],
  ['target_unavailable', 'dependency_outage'],
  ['loading', 'target_not_ready'],
  ['probe_failed', 'target_not_ready'],
  [null, 'target_not_ready'],
])('a wait with %s fails at its deadline as %s', (reason, code) => {
  expect(lateFailure(waiting({ reason }))).toMatchObject({ code });
});

describe('the text about a trouble', () => {
  const failure = {
    cause: 'exited' as const,
    remediation: 'Correct the file.',
    exit_code: 7,
    signal: null,
    line: 'the model is broken',
    log_tail: ['loading', 'the model is broken'],
    message: 'it ended with code 7',
  };

  it('begins with the cause, and has the line that shows it and the remedy, but no last lines', () => {
    const text = 'exited: it ended with code 7: the model is broken. Correct the file.';
    expect(troubleText(waiting({ message: null, failure }))).toBe(text);
    expect(troubleText(waiting({ message: failure.message, reason: 'exited', failure }))).toBe(text);
  });

  it('is about what an instance waits for now, if that is something else', () => {
    const message = 'waiting for free capacity on target local';
    expect(troubleText(waiting({ message, reason: 'waiting_for_place', failure }))).toBe(
      `waiting_for_place: ${message}`,
    );
    expect(troubleText(waiting({ message, reason: null }))).toBe(message);
    expect(troubleText(waiting({ message: null }))).toBeUndefined();
    expect(troubleText(undefined)).toBeUndefined();
  });
});

it('a wait fails at its deadline as not ready if nothing is known', () => {
  expect(lateFailure(undefined)).toMatchObject({ code: 'target_not_ready' });
});
