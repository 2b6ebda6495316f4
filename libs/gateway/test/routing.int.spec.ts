import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { routeFollowers, inFlight, slotOf } from '@slipway/dataplane';
import type { Gateway } from '../src/index.js';
import { ask } from './client.js';
import { durationOf, limitFrom, median } from './durations.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { respondJson, TestUpstream } from './upstream.js';

let installation: GatewayInstallation;
let gateway: Gateway;
let token: TestToken;
let tenant: string;
const upstreams: TestUpstream[] = [];

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  tenant = await installation.tenant('acme');
  token = await installation.token(tenant);
  for (const name of ['a', 'b', 'c', 'd']) upstreams.push(await TestUpstream.start(name));
  gateway = await installation.gateway();
});
afterAll(async () => {
  await installation.destroy();
  await Promise.all(upstreams.map((upstream) => upstream.stop()));
});

async function revisions(deployment: string, names: readonly string[]): Promise<void> {
  for (const [index, name] of names.entries())
    await installation.revision(tenant, deployment, name, [upstreams[index] as TestUpstream]);
}

async function following(deployment: string, generation: number): Promise<void> {
  await untilPassing(async () =>
    expect(await routeFollowers(installation.db, `dep_${deployment}`, generation)).toEqual({ gateways: 1, behind: 0 }),
  );
}

/** Returns the revision that answers. */
async function drawn(model: string, session?: string): Promise<string> {
  const answer = await ask(gateway, token, {
    body: { model },
    headers: session === undefined ? {} : { 'x-session-id': session },
  });
  expect(answer.status).toBe(200);
  return answer.headers.get('x-slipway-revision') as string;
}

async function inParallel<T>(count: number, width: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      results[index] = await work(index);
    }
  };
  await Promise.all(Array.from({ length: width }, client));
  return results;
}

const share = (answers: readonly string[], name: string): number =>
  (100 * answers.filter((answer) => answer === name).length) / answers.length;

it('splits 2,000 requests 70/30/0, within 4 points and with none for weight 0', async () => {
  await revisions('split', ['split-1', 'split-2', 'split-3']);
  await following('split', await installation.route(tenant, 'split', { 'split-1': 70, 'split-2': 30, 'split-3': 0 }));
  const answers = await inParallel(2_000, 10, () => drawn('split'));
  expect(Math.abs(share(answers, 'split-1') - 70)).toBeLessThanOrEqual(4);
  expect(Math.abs(share(answers, 'split-2') - 30)).toBeLessThanOrEqual(4);
  expect(share(answers, 'split-3')).toBe(0);
});

it('keeps sessions on their side while weights are unchanged, and moves only those it must', async () => {
  await revisions('sticky', ['sticky-1', 'sticky-2']);
  await following('sticky', await installation.route(tenant, 'sticky', { 'sticky-1': 60, 'sticky-2': 40 }));
  const sessions = Array.from({ length: 300 }, (_, index) => `session-${index}`);
  const before = await inParallel(sessions.length, 10, (index) => drawn('sticky', sessions[index]));
  expect(await inParallel(sessions.length, 10, (index) => drawn('sticky', sessions[index]))).toEqual(before);

  await following('sticky', await installation.route(tenant, 'sticky', { 'sticky-1': 50, 'sticky-2': 50 }));
  const after = await inParallel(sessions.length, 10, (index) => drawn('sticky', sessions[index]));
  const moved = new Set<number>();
  for (const [index, session] of sessions.entries()) {
    if (after[index] === before[index]) continue;
    expect(before[index]).toBe('sticky-1');
    moved.add(slotOf(tenant, 'dep_sticky', session));
  }
  // Ten slots change owner; sessions of other slots stay.
  expect(moved.size).toBeGreaterThan(0);
  expect(moved.size).toBeLessThanOrEqual(10);
});

it('serves a new generation within 100 ms of its commit', async () => {
  await revisions('swift', ['swift-1', 'swift-2']);
  await following('swift', await installation.route(tenant, 'swift', { 'swift-1': 100 }));
  const delays: number[] = [];
  const roundTrips: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const [now, next] = round % 2 === 0 ? ['swift-1', 'swift-2'] : ['swift-2', 'swift-1'];
    const roundTrip = async (): Promise<void> => {
      expect(await drawn('swift')).toBe(now);
      await installation.sql('select 1');
    };
    roundTrips.push(await durationOf(roundTrip));
    await installation.route(tenant, 'swift', { [next as string]: 100 });
    delays.push(await durationOf(() => untilPassing(async () => expect(await drawn('swift')).toBe(next))));
  }
  expect(median(delays)).toBeLessThan(limitFrom(100, roundTrips));
});

it('follows a different route with a known generation, as after a fail-over that lost the first one', async () => {
  await revisions('again', ['again-1', 'again-2']);
  const generation = await installation.route(tenant, 'again', { 'again-1': 100 });
  await following('again', generation);
  expect(await drawn('again')).toBe('again-1');
  // No notification is sent: the standby that took over does not know what is written here.
  await installation.sql(
    `update dataplane_routes set targets = '[{"revision_id":"rev_again-2","revision_name":"again-2","weight":100}]', updated_at = now()
     where deployment_id = 'dep_again' and generation = $1`,
    [generation],
  );
  await untilPassing(async () => expect(await drawn('again')).toBe('again-2'));
});

it('loses no request and cuts no stream while the route changes back and forth under load', async () => {
  await revisions('busy', ['busy-1', 'busy-2']);
  await following('busy', await installation.route(tenant, 'busy', { 'busy-1': 100 }));
  let isSwitching = true;
  const failures: string[] = [];
  let requests = 0;
  const client = async (index: number): Promise<void> => {
    while (isSwitching) {
      const stream = index % 2 === 0;
      const answer = await ask(gateway, token, { body: { model: 'busy', stream } }).catch((error: unknown) => ({
        status: 0,
        text: String(error),
      }));
      requests += 1;
      const isWhole = answer.status === 200 && (!stream || answer.text.endsWith('data: [DONE]\n\n'));
      if (!isWhole) failures.push(`${answer.status} ${answer.text.slice(0, 200)}`);
    }
  };
  const clients = Array.from({ length: 16 }, (_, index) => client(index));
  for (const first of [95, 50, 0, 100, 30, 100, 0, 100]) {
    await following('busy', await installation.route(tenant, 'busy', { 'busy-1': first, 'busy-2': 100 - first }));
    const seen = requests;
    await untilPassing(() => expect(requests).toBeGreaterThan(seen + 60));
  }
  isSwitching = false;
  await Promise.all(clients);
  expect(failures).toEqual([]);
});

it('lets a rollout drain: all gateways follow the route, then nothing is in flight, then the instance may be removed', async () => {
  await revisions('drain', ['drain-1', 'drain-2']);
  await following('drain', await installation.route(tenant, 'drain', { 'drain-1': 100 }));
  let release: () => void = () => undefined;
  const first = upstreams[0] as TestUpstream;
  first.behaviour = async (_request, response) => {
    await new Promise<void>((resolve) => (release = resolve));
    respondJson(response, 200, { choices: [], usage: {} });
  };
  const held = drawn('drain');
  await untilPassing(async () => expect(await inFlight(installation.db, 'rev_drain-1')).toBe(1));
  await following('drain', await installation.route(tenant, 'drain', { 'drain-2': 100 }));
  expect(await inFlight(installation.db, 'rev_drain-1')).toBe(1);
  expect(await drawn('drain')).toBe('drain-2');
  // The instance is withdrawn while the request is in flight; that request still succeeds.
  await installation.revision(tenant, 'drain', 'drain-1', []);
  release();
  expect(await held).toBe('drain-1');
  await untilPassing(async () => expect(await inFlight(installation.db, 'rev_drain-1')).toBe(0));
  first.behaviour = (request, response) => first.answer(request, response);
});

it('spreads requests over the instances by load', async () => {
  const [slow, quick] = upstreams as [TestUpstream, TestUpstream];
  await installation.revision(tenant, 'load', 'load-1', [slow, quick]);
  await following('load', await installation.route(tenant, 'load', { 'load-1': 100 }));
  slow.seen.length = quick.seen.length = 0;
  let waiting = 0;
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  for (const upstream of [slow, quick]) {
    upstream.behaviour = async (request, response) => {
      waiting += 1;
      await gate;
      upstream.answer(request, response);
    };
  }
  const asked = Array.from({ length: 20 }, () => drawn('load'));
  await untilPassing(() => expect(waiting).toBe(20));
  expect([slow.seen.length, quick.seen.length]).toEqual([10, 10]);
  release();
  await Promise.all(asked);
  for (const upstream of [slow, quick]) upstream.behaviour = (request, response) => upstream.answer(request, response);
});
