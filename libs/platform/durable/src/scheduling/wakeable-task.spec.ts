import { expect, it, jest } from '@jest/globals';
import { WakeableTask } from './wakeable-task.js';

/** Work whose runs end one by one, when the test decides. */
function heldWork() {
  const ends: ((error?: Error) => void)[] = [];
  const work = jest.fn(
    () => new Promise<void>((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve()))),
  );
  const onError = jest.fn();
  const begun = async (count: number) => {
    while (ends.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  return { ends, work, onError, begun };
}

it('runs once for all wakes of one iteration of the event loop, and once more for wakes during a run', async () => {
  const { ends, work, onError, begun } = heldWork();
  const wakeable = new WakeableTask(work, { onError });
  const first = [wakeable.wake(), wakeable.wake(), wakeable.wake()];
  await begun(1);
  const second = [wakeable.wake(), wakeable.wake()];
  ends[0]!();
  await begun(2);
  ends[1]!();
  await Promise.all([...first, ...second]);
  expect(work).toHaveBeenCalledTimes(2);
});

it('runs again after it was idle', async () => {
  const work = jest.fn(async () => undefined);
  const wakeable = new WakeableTask(work, { onError: jest.fn() });
  await wakeable.wake();
  await wakeable.wake();
  expect(work).toHaveBeenCalledTimes(2);
});

it('loses no wake that arrives as a run ends', async () => {
  let runs = 0;
  const wakeable: WakeableTask = new WakeableTask(
    async () => {
      runs += 1;
    },
    { onError: jest.fn() },
  );
  const chained = wakeable.wake().then(() => wakeable.wake());
  await chained;
  expect(runs).toBe(2);
});

it('reports an error, and runs again at the next wake', async () => {
  const { ends, onError, begun, work } = heldWork();
  const wakeable = new WakeableTask(work, { onError });
  const woken = wakeable.wake();
  await begun(1);
  const error = new Error('Postgres is away');
  ends[0]!(error);
  await woken;
  expect(onError).toHaveBeenCalledWith(error);
  const again = wakeable.wake();
  await begun(2);
  ends[1]!();
  await again;
});

it('waits for its run when it is stopped, and does not run again', async () => {
  const { ends, work, onError, begun } = heldWork();
  const wakeable = new WakeableTask(work, { onError });
  void wakeable.wake();
  await begun(1);
  void wakeable.wake();
  let hasStopped = false;
  const stopped = wakeable.stop().then(() => (hasStopped = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect([wakeable.isStopped, hasStopped]).toEqual([true, false]);
  ends[0]!();
  await stopped;
  await wakeable.wake();
  expect(work).toHaveBeenCalledTimes(1);
});

it('keeps a gap between runs, and none before the first', async () => {
  const gapMs = 500;
  const began = performance.now();
  const starts: number[] = [];
  const wakeable: WakeableTask = new WakeableTask(
    async () => {
      starts.push(performance.now() - began);
      if (starts.length < 3) void wakeable.wake();
    },
    { onError: jest.fn(), gapMs },
  );
  await wakeable.wake();
  expect(starts).toHaveLength(3);
  expect(starts[0]).toBeLessThan(gapMs);
  // Timers may fire a millisecond early, and the gap counts from before the first run.
  expect(starts[2]).toBeGreaterThan(2 * gapMs - 5);
});
