import { describe, expect, it } from '@jest/globals';
import { endOf, evidenceText, lengthOf, shareText, type StepRecord } from './step-text.js';

const SOAK: StepRecord = {
  name: 'soak:1',
  index: 4,
  status: 'waiting',
  message: 'Soaking until 2026-01-02T03:04:05.000Z',
  started_at: '2026-01-02T03:04:00.000Z',
  completed_at: null,
  evidence: null,
};

describe('the end of a wait', () => {
  it('is read from its message', () => expect(endOf(SOAK)).toBe(Date.UTC(2026, 0, 2, 3, 4, 5)));

  it('is the same in a message with a full stop', () =>
    expect(endOf({ ...SOAK, message: `${SOAK.message}.` })).toBe(Date.UTC(2026, 0, 2, 3, 4, 5)));

  it.each([
    ['it is over', { ...SOAK, status: 'succeeded' }],
    ['the message contains no time', { ...SOAK, message: 'waits for a person' }],
    ['the time is invalid', { ...SOAK, message: 'Soaking until 2026-99-99T99:99Z' }],
  ])('is undefined if %s', (_, step) => expect(endOf(step)).toBeUndefined());
});

describe('the length of a step', () => {
  const now = Date.UTC(2026, 0, 2, 3, 4, 3);

  it('grows while it runs', () => expect(lengthOf(SOAK, now)).toBe(3_000));

  it('stops with it', () => expect(lengthOf({ ...SOAK, completed_at: '2026-01-02T03:04:01.000Z' }, now)).toBe(1_000));

  it('is never below zero, because clocks differ', () => expect(lengthOf(SOAK, now - 60_000)).toBe(0));

  it('is undefined before it begins', () => expect(lengthOf({ ...SOAK, started_at: null }, now)).toBeUndefined());
});

describe('the share of the traffic', () => {
  const share = { configured_percent: 10, received_percent: 100, requests: 42, sessions: 1 };

  it('is compared with the configured one in plain words', () => {
    expect(shareText({ share })).toBe('10 % requested, 100 % received, 1 session');
    expect(shareText({ share: { ...share, received_percent: 33.3333, sessions: 3 } })).toBe(
      '10 % requested, 33.3 % received, 3 sessions',
    );
  });

  it.each([[null], [{}], [{ share: null }], [{ share: { configured_percent: 10 } }]])(
    'is not shown for %j',
    (evidence) => expect(shareText(evidence)).toBeUndefined(),
  );
});

describe('evidence', () => {
  it('is undefined if nothing was observed', () => {
    expect(evidenceText(null)).toBeUndefined();
    expect(evidenceText({})).toBeUndefined();
  });

  it('is JSON', () => expect(evidenceText({ cause: 'gpu_memory' })).toBe('{\n  "cause": "gpu_memory"\n}'));

  it('is cut if it is long, and marked as cut', () => {
    const text = evidenceText({ log: 'x'.repeat(10_000) })!;
    expect(text.length).toBeLessThan(4_100);
    expect(text).toMatch(/and more/);
  });
});
