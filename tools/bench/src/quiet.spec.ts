import { describe, expect, it } from '@jest/globals';
import { busyShare, cpuTicks, QuietWait } from './quiet.js';

const stat = (fields: string) => `cpu  ${fields}\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 5\n`;

it('everything except idle and waiting for disks counts as busy, including stolen time', () => {
  expect(cpuTicks(stat('10 1 5 800 100 2 3 79 4 0'))).toEqual({ busy: 100, total: 1_000 });
  expect(() => cpuTicks('cpu0 1 2 3\n')).toThrow('/proc/stat');
  expect(() => cpuTicks(stat('10 1 5'))).toThrow('/proc/stat');
});

it('the busy share is computed between two samples', () => {
  expect(busyShare({ busy: 100, total: 1_000 }, { busy: 150, total: 1_200 })).toBe(0.25);
  expect(busyShare({ busy: 100, total: 1_000 }, { busy: 100, total: 1_000 })).toBe(0);
});

describe('waiting for a quiet machine', () => {
  /** Each sample takes two seconds and returns the next share; the last share is repeated. */
  function machine(patienceMs: number, shares: number[]) {
    let now = 0;
    let looks = 0;
    const told: string[] = [];
    const look = async () => {
      now += 2_000;
      return shares[Math.min(looks++, shares.length - 1)] as number;
    };
    const quiet = new QuietWait(
      patienceMs,
      (line) => told.push(line),
      look,
      () => now,
    );
    return { quiet, told, elapsed: () => now };
  }

  it('ends at once and silently on an idle machine', async () => {
    const { quiet, told, elapsed } = machine(60_000, [0.01]);
    expect(await quiet.waitUntilQuiet()).toBe(true);
    expect(told).toEqual([]);
    expect(elapsed()).toBe(2_000);
  });

  it('reports that it waits, and ends when other programs have ended', async () => {
    const { quiet, told, elapsed } = machine(60_000, [0.9, 0.5, 0.02]);
    expect(await quiet.waitUntilQuiet()).toBe(true);
    expect(told).toEqual(['waiting for quiet: other programs use 90 % of the processors']);
    expect(elapsed()).toBe(6_000);
  });

  it('gives up when the total patience of all waits is used, and reports it', async () => {
    const { quiet, told, elapsed } = machine(60_000, [0.9]);
    expect(await quiet.waitUntilQuiet()).toBe(false);
    expect(elapsed()).toBe(60_000);
    expect(told.at(-1)).toBe('not quiet: other programs use 90 % of the processors; continuing');
    expect(told).toHaveLength(3);
    expect(await quiet.waitUntilQuiet()).toBe(false);
    expect(elapsed()).toBe(62_000);
  });

  it('finds no quiet machine if it cannot measure, and reports that once', async () => {
    const { quiet, told } = machine(60_000, [Number.NaN]);
    expect(await quiet.waitUntilQuiet()).toBe(false);
    expect(await quiet.waitUntilQuiet()).toBe(false);
    expect(told).toEqual(['/proc/stat does not exist: cannot check if the machine is quiet']);
  });
});
