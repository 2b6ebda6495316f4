import { expect, it } from '@jest/globals';
import type { StartFailure } from '@slipway/contracts';
import type { Observation } from '@slipway/target-driver';
import { failedStart } from './failed-starts.js';

const failure = (cause: StartFailure['cause'], exit_code = 1): StartFailure => ({
  cause,
  remediation: 'do better',
  exit_code,
  signal: null,
  log_tail: ['a line'],
});
const ended = (cause: StartFailure['cause'], exitCode?: number): Observation => ({
  state: 'exited',
  message: 'it ended',
  failure: failure(cause, exitCode),
});
const NEVER = { ready_age: null, failure: null, failed_starts: 0 };

/** Starts that end as told, one after the other, counted. */
function counts(ends: readonly Observation[], isAfterStop = false): (number | undefined)[] {
  let known: Parameters<typeof failedStart>[0] = NEVER;
  return ends.map((seen) => {
    const { failure: last, failedStarts } = failedStart(known, seen, isAfterStop);
    known = { ready_age: null, failure: last ?? null, failed_starts: failedStarts ?? 0 };
    return failedStarts;
  });
}

it('counts starts that end alike, and begins anew with another cause or exit code', () => {
  expect(counts([ended('exited'), ended('exited'), ended('port_in_use'), ended('port_in_use', 2)])).toEqual([
    1, 2, 1, 1,
  ]);
});

it('does not count one start that lacks memory of an accelerator right after something else has stopped', () => {
  expect(counts([ended('gpu_memory'), ended('gpu_memory'), ended('gpu_memory')], true)).toEqual([0, 1, 2]);
  expect(counts([ended('gpu_memory'), ended('gpu_memory')])).toEqual([1, 2]);
  expect(counts([ended('port_in_use')], true)).toEqual([1]);
});

it('is not what a crash is after it was ready', () => {
  expect(failedStart({ ...NEVER, ready_age: 3 }, ended('exited'), false)).toEqual({});
});

it('says what was seen where the target gives no reason', () => {
  const seen: Observation = {
    state: 'exited',
    message: 'it ended with code 3',
    lastExit: { code: 3, reason: 'exited' },
  };
  expect(failedStart(NEVER, seen, false).failure).toMatchObject({
    cause: 'exited',
    exit_code: 3,
    message: 'it ended with code 3',
  });
});

it('keeps of a hostile engine no more than is promised, and nothing that Postgres cannot store', () => {
  const lines = Array.from({ length: 100 }, (_, n) => `${n}\0\ud800${'x'.repeat(9_000)}`);
  const { failure: kept } = failedStart(
    NEVER,
    { state: 'exited', message: 'm\0', failure: { ...failure('exited'), log_tail: lines } },
    false,
  );
  expect(kept?.log_tail).toHaveLength(40);
  expect(kept?.log_tail[0]).toMatch(/^60\ufffd\ufffdx+$/);
  expect(Math.max(...(kept?.log_tail ?? []).map((line) => line.length))).toBe(500);
  expect(kept?.message).toBe('m\ufffd');
});
