import { describe, expect, it } from '@jest/globals';
import type { StartFailure } from '@slipway/contracts';
import type { LogLine, LogOptions, Observation, TargetDriver } from '@slipway/target-driver';
import { failedStart, lastLinesOf, restartBackOff } from './failed-starts.js';

describe('a failed start', () => {
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
  const NEVER = { ready_age_seconds: null, failure: null, failed_starts: 0 };

  /** Returns the counts of starts that end in the given ways, one after the other. */
  function counts(ends: readonly Observation[], isAfterStop = false): (number | undefined)[] {
    let known: Parameters<typeof failedStart>[0] = NEVER;
    return ends.map((seen) => {
      const { failure: last, failedStarts } = failedStart(known, seen, isAfterStop);
      known = { ready_age_seconds: null, failure: last ?? null, failed_starts: failedStarts ?? 0 };
      return failedStarts;
    });
  }

  it('is counted with previous ones of the same cause and exit code, and another cause or code begins a new count', () => {
    expect(counts([ended('exited'), ended('exited'), ended('port_in_use'), ended('port_in_use', 2)])).toEqual([
      1, 2, 1, 1,
    ]);
  });

  it('is not counted if it lacks accelerator memory right after another instance has stopped', () => {
    expect(counts([ended('gpu_memory'), ended('gpu_memory'), ended('gpu_memory')], true)).toEqual([0, 1, 2]);
    expect(counts([ended('gpu_memory'), ended('gpu_memory')])).toEqual([1, 2]);
    expect(counts([ended('port_in_use')], true)).toEqual([1]);
  });

  it('is not recorded for a crash after the instance was ready', () => {
    expect(failedStart({ ...NEVER, ready_age_seconds: 3 }, ended('exited'), false)).toEqual({});
  });

  it('has the observed message if the target gives no reason', () => {
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

  it('keeps output of an engine only up to the limits, and only text that Postgres can store', () => {
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
});

describe('the last lines of a server', () => {
  const line = (text: string): LogLine => ({ stream: 'stderr', text });

  /** Returns a driver whose instances have written this output, and the options that it got. */
  function driverOf(output: (options: LogOptions) => AsyncIterable<LogLine>) {
    const asked: LogOptions[] = [];
    const driver: Pick<TargetDriver, 'logs'> = {
      logs: (_instanceId, options) => {
        asked.push(options);
        return output(options);
      },
    };
    return { driver, asked };
  }

  it('come from the end of the previous life, without the secrets of the engine', async () => {
    const { driver, asked } = driverOf(async function* () {
      yield line('loading with sesame-street');
      yield line('out of memory');
    });
    expect(await lastLinesOf(driver, 'ins_1', ['sesame-street'])).toEqual(['loading with [redacted]', 'out of memory']);
    expect(asked).toMatchObject([
      { tail: 40, stream: 'both', previous: true, follow: false, secrets: ['sesame-street'] },
    ]);
  });

  it('are at most the requested number, and the driver gets a signal that no more are needed', async () => {
    let isClosed = false;
    const { driver } = driverOf(async function* () {
      try {
        for (let count = 0; ; count += 1) yield line(String(count));
      } finally {
        isClosed = true;
      }
    });
    const lines = await lastLinesOf(driver, 'ins_1', []);
    expect([lines.length, lines[0], lines[39]]).toEqual([40, '0', '39']);
    expect(isClosed).toBe(true);
  });

  it('include the lines that came before the driver failed or hung', async () => {
    const failing = driverOf(async function* () {
      yield line('one');
      throw new Error('403');
    });
    expect(await lastLinesOf(failing.driver, 'ins_1', [])).toEqual(['one']);
    const hanging = driverOf(async function* () {
      yield line('one');
      await new Promise(() => undefined);
    });
    const beganAt = performance.now();
    expect(await lastLinesOf(hanging.driver, 'ins_1', [], 50)).toEqual(['one']);
    expect(performance.now() - beganAt).toBeLessThan(2_000);
  });

  it('are empty if a driver keeps no output', async () => {
    expect(await lastLinesOf({}, 'ins_1', [])).toEqual([]);
  });
});

describe('the back-off of a restart', () => {
  it('doubles from half a second to 30 seconds', () => {
    let streak = 0;
    const waits = Array.from({ length: 9 }, () => {
      const next = restartBackOff(streak, 3);
      streak = next.streak;
      return next.seconds;
    });
    expect(waits).toEqual([0.5, 1, 2, 4, 8, 16, 30, 30, 30]);
    expect(restartBackOff(5_000, null).seconds).toBe(30);
  });

  it('begins again after a minute of being ready', () => {
    expect(restartBackOff(6, 59.9)).toEqual({ streak: 7, seconds: 30 });
    expect(restartBackOff(6, 60)).toEqual({ streak: 1, seconds: 0.5 });
    expect(restartBackOff(6, null).streak).toBe(7);
  });
});
