import { describe, expect, it } from '@jest/globals';
import type { DeploymentEvent } from '@slipway/sdk';
import { EventLog, MOST_KEPT } from './event-log.js';

const event = (sequence: number) => ({ sequence, type: 'route.updated' }) as DeploymentEvent;
const logOf = (...sequences: number[]) => {
  const log = new EventLog();
  for (const sequence of sequences) log.add(event(sequence));
  return log;
};
const told = (log: EventLog) => log.all().map(({ event: { sequence }, missingBefore }) => [sequence, missingBefore]);

describe('the stored events of a stream', () => {
  it('marks how many events are missing between two', () => {
    expect(told(logOf(7, 8, 11))).toEqual([
      [7, 0],
      [8, 0],
      [11, 2],
    ]);
  });

  it('stores no event twice, for example after a reconnection', () => {
    const log = logOf(1, 2);
    expect(log.add(event(2))).toBe(false);
    expect(log.add(event(3))).toBe(true);
    expect(told(log)).toEqual([
      [1, 0],
      [2, 0],
      [3, 0],
    ]);
    expect(log.lastSequence).toBe(3);
  });

  it('keeps only the newest, however many arrive', () => {
    const log = new EventLog();
    for (let sequence = 1; sequence <= 28_800; sequence += 1) log.add(event(sequence));
    expect(log.all()).toHaveLength(MOST_KEPT);
    expect(log.all()[0]!.event.sequence).toBe(28_800 - MOST_KEPT + 1);
    expect(log.all().at(-1)!.event.sequence).toBe(28_800);
    expect(log.all().every(({ missingBefore }) => missingBefore === 0)).toBe(true);
  });

  it('gives each reader its own array', () => {
    const log = logOf(1);
    const before = log.all();
    log.add(event(2));
    expect(before).toHaveLength(1);
  });
});
