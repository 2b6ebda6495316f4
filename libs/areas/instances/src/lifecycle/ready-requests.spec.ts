import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { InstanceSpec, Observation, ReadyAnswer, TargetDriver } from '@slipway/target-driver';
import { ReadyRequests } from './ready-requests.js';

const SEEN = { state: 'ready', incarnation: 'one', baseUrl: 'http://127.0.0.1:1' } as const satisfies Observation;
const SPEC = { instanceId: 'ins_1', generation: 1, model: { id: 'm' } } as InstanceSpec;
const INSTANCE = { id: 'ins_1', state: 'starting', state_age_seconds: 0 } as const;

let sent: number;
let limits: number[];
/** Settles the request in progress. */
let settle: (answer: ReadyAnswer) => void;
let requests: ReadyRequests;

beforeEach(() => {
  jest.useFakeTimers();
  [sent, limits] = [0, []];
  requests = new ReadyRequests({ refusedAfterMs: 10_000 }, (_server, _serves, limitMs) => {
    sent += 1;
    limits.push(limitMs);
    return new Promise((resolve) => (settle = resolve));
  });
});
afterEach(() => void jest.useRealTimers());

const driver = {
  callable: () => ({}),
  traits: () => ({ serves: ['chat'], readyTimeoutSeconds: 30 }),
} as unknown as TargetDriver;

async function look(seen: Observation = SEEN, instance: Parameters<ReadyRequests['prove']>[1] = INSTANCE) {
  const proven = requests.prove(driver, instance, SPEC, seen);
  await jest.advanceTimersByTimeAsync(500);
  return proven;
}

async function answered(answer: ReadyAnswer): Promise<Observation> {
  settle(answer);
  await jest.advanceTimersByTimeAsync(0);
  return look();
}

const BUSY = { is: 'busy', message: 'POST u returned 503' } as const;
const REFUSED = { is: 'refused', message: 'POST u returned 401: no' } as const;

it('is ready after one answered request, and sends a slow engine no second one', async () => {
  for (let checks = 0; checks < 5; checks += 1)
    expect(await look()).toMatchObject({
      state: 'starting',
      reason: 'loading',
      message: expect.stringContaining('waiting'),
    });
  expect(sent).toBe(1);
  settle({ is: 'answered' });
  expect(await look()).toEqual(SEEN);
});

it('waits for a busy server within the time of a start, with longer and longer pauses', async () => {
  await look();
  let seen = await answered(BUSY);
  expect(seen).toMatchObject({ state: 'starting', reason: 'loading', message: BUSY.message });
  const begun = performance.now();
  while (seen.state === 'starting') seen = await answered(BUSY);
  expect(seen).toMatchObject({ state: 'unhealthy', reason: 'start_timeout', message: BUSY.message });
  expect(seen.failure?.cause).toBe('start_timeout');
  expect(performance.now() - begun).toBeGreaterThan(28_000);
  expect(sent).toBeLessThan(10);
});

it('gives up a server that has refused for ten seconds, until it answers', async () => {
  await look();
  let seen = await answered(REFUSED);
  const begun = performance.now();
  while (seen.state === 'starting') seen = await answered(REFUSED);
  expect(seen).toMatchObject({ state: 'unhealthy', reason: 'request_refused', message: REFUSED.message });
  expect(seen.failure?.remediation).toContain('probes.probe');
  expect(performance.now() - begun).toBeLessThan(11_000);
  const before = sent;
  while (sent === before) await look();
  expect(await answered({ is: 'answered' })).toEqual(SEEN);
});

it('does not give up a server that refuses and is busy by turns', async () => {
  await look();
  for (const answer of [REFUSED, BUSY, REFUSED, BUSY]) {
    expect((await answered(answer)).state).toBe('starting');
    await jest.advanceTimersByTimeAsync(6_000);
    expect((await look()).state).toBe('starting');
  }
});

it('begins again for another life of the server, and leaves each the rest of the time of a start', async () => {
  await look(SEEN, { ...INSTANCE, state_age_seconds: 12.0004 });
  await look({ ...SEEN, incarnation: 'two' }, { ...INSTANCE, state_age_seconds: 29 });
  expect(limits).toEqual([18_000, 10_000]);
});
