import type { InstanceSpec, ObservedState, Observation, TargetDriver } from './driver.js';

/** Observes until the state is `wanted`, and fails with everything seen on the way when that does not happen in time. */
export async function observeUntil(
  driver: TargetDriver,
  spec: InstanceSpec,
  wanted: ObservedState,
  deadlineMs = 15_000,
): Promise<Observation> {
  const end = Date.now() + deadlineMs;
  const seen: string[] = [];
  for (;;) {
    const observed = await driver.observe(spec);
    if (observed.state === wanted) return observed;
    const line = JSON.stringify(observed);
    if (seen.at(-1) !== line) seen.push(line);
    if (Date.now() > end) throw new Error(`never became ${wanted}; saw ${seen.join(', ')}`);
    await pause(25);
  }
}

/** Terminates until nothing is left. */
export async function terminateUntilGone(driver: TargetDriver, instanceId: string, deadlineMs = 15_000): Promise<void> {
  const end = Date.now() + deadlineMs;
  while ((await driver.terminate(instanceId)) !== 'gone') {
    if (Date.now() > end) throw new Error(`${instanceId} is not gone`);
    await pause(25);
  }
}

export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
