import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import {
  emptyCounts,
  readMetric,
  routeFollowers,
  statsBetween,
  statsCompleteUntil,
  type CallerCounts,
  type RequestStats,
} from '@slipway/dataplane';
import type { Gateway } from '../src/index.js';
import { ask, type TestAnswer } from './client.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { respondJson, TestUpstream, type SeenRequest } from './upstream.js';

let installation: GatewayInstallation;
let gateway: Gateway;
let token: TestToken;
let tenant: string;
let upstreams: [TestUpstream, TestUpstream];

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  tenant = await installation.tenant('acme');
  token = await installation.token(tenant);
  upstreams = [await TestUpstream.start('one'), await TestUpstream.start('two')];
  gateway = await installation.gateway({ ejection: { failures: 5, baseMs: 3_600_000, mostMs: 3_600_000 } });
});
afterAll(async () => {
  await installation.destroy();
  await Promise.all(upstreams.map((upstream) => upstream.stop()));
});
afterEach(() => {
  for (const upstream of upstreams) upstream.behaviour = (request, response) => upstream.answer(request, response);
});

async function deployment(name: string, instances: TestUpstream[], credential?: string): Promise<void> {
  await installation.revision(tenant, name, `${name}-1`, instances, credential);
  const generation = await installation.route(tenant, name, { [`${name}-1`]: 100 });
  await untilPassing(async () =>
    expect(await routeFollowers(installation.db, `dep_${name}`, generation)).toMatchObject({ gateways: 1, behind: 0 }),
  );
  for (const upstream of upstreams) upstream.seen.length = 0;
}

const chat = (model: string, session?: string, body: object = {}, signal?: AbortSignal): Promise<TestAnswer> =>
  ask(gateway, token, {
    body: { model, ...body },
    headers: session === undefined ? {} : { 'x-session-id': session },
    ...(signal && { signal }),
  });
const everywhere = (behaviour: TestUpstream['behaviour']): void => {
  for (const upstream of upstreams) upstream.behaviour = behaviour;
};
const ejected = (name: string): string | undefined =>
  new RegExp(`^slipway_gateway_ejected_instances\\{[^}]*revision="${name}-1"\\} (\\d)$`, 'm').exec(
    gateway.metrics(),
  )?.[1];

function stats(name: string): Promise<RequestStats> {
  const now = Date.now();
  return statsBetween(installation.db, `rev_${name}-1`, new Date(now - 60_000), new Date(now + 5_000));
}

/** Resolves with the statistics once everything up to now is stored. */
async function stored(name: string): Promise<RequestStats> {
  const now = new Date();
  await untilPassing(async () =>
    expect(((await statsCompleteUntil(installation.db)) ?? new Date(0)).getTime()).toBeGreaterThan(now.getTime()),
  );
  return stats(name);
}

/** Adds up the counts of all callers. */
function summed({ callers }: RequestStats): CallerCounts {
  const sum: CallerCounts = [0, 0, 0, 0, 0];
  for (const counts of Object.values(callers ?? {})) counts.forEach((count, at) => (sum[at as 0] += count));
  return sum;
}

const PICTURE = { error: { message: 'image input is not supported', type: 'server_error', param: null, code: 500 } };

it('the errors that an engine reports eject no instance while fewer than three callers get them', async () => {
  await deployment('pictures', [upstreams[0]]);
  everywhere((_request, response) => respondJson(response, 500, PICTURE));
  for (let n = 0; n < 8; n += 1) {
    expect((await chat('pictures')).body).toEqual(PICTURE);
    await chat('pictures', 'second');
  }
  expect(ejected('pictures')).toBe('0');
  await chat('pictures', 'third');
  expect(ejected('pictures')).toBe('1');
});

it('a good answer to another client forgets the errors before it', async () => {
  await deployment('mixed', [upstreams[0]]);
  for (let round = 0; round < 6; round += 1)
    for (const session of ['first', 'second', 'third']) {
      everywhere((_request, response) => respondJson(response, 500, PICTURE));
      await chat('mixed', session);
      everywhere((request, response) => void upstreams[0].answer(request, response));
      expect((await chat('mixed', session)).status).toBe(200);
    }
  expect(ejected('mixed')).toBe('0');
});

it.each([
  ['are empty', 'empty', 200, ''],
  ['cannot be read', 'unreadable', 200, '<html></html>'],
  ['are failures without an error of the engine', 'page', 500, '<html></html>'],
])('answers that %s eject an instance, even if one client gets them all', async (_what, name, status, text) => {
  await deployment(name, [upstreams[0]]);
  everywhere((_request, response) => void response.writeHead(status, { 'content-type': 'application/json' }).end(text));
  for (let n = 0; n < 5; n += 1) expect((await chat(name)).status).toBeGreaterThanOrEqual(500);
  expect(ejected(name)).toBe('1');
});

it('a stream proves its instance healthy with its first token, and not with its head', async () => {
  await deployment('heads', [upstreams[0]]);
  everywhere((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n', () => response.destroy());
  });
  for (let n = 0; n < 5; n += 1) await expect(chat('heads', undefined, { stream: true })).rejects.toThrow();
  expect(ejected('heads')).toBe('1');
});

it('requests that wait long are counted while they wait, and as abandoned once their clients leave', async () => {
  await deployment('waits', upstreams);
  everywhere((request, response) => {
    if (request.body['stream'] !== true) return;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n');
  });
  const leaving = new AbortController();
  const left = [true, false].map((stream) => chat('waits', undefined, { stream }, leaving.signal));
  for (const request of left) request.catch(() => undefined);
  // Waits are counted by caller from 2 s on.
  await untilPassing(async () => expect(Object.values((await stats('waits')).waits?.callers ?? {})).toEqual([2]));
  leaving.abort();
  expect((await Promise.allSettled(left)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await untilPassing(async () => expect((await stats('waits')).counts.abandoned).toBe(2));
  const seen = await stored('waits');
  expect(seen.counts).toEqual({ ...emptyCounts(), abandoned: 2 });
  expect([seen.ttft_ms.n, seen.e2e_latency_ms.n, seen.waits?.left.n]).toEqual([1, 2, 2]);
  for (const { n, sum } of [seen.ttft_ms, seen.e2e_latency_ms]) expect(sum / n).toBeGreaterThanOrEqual(2_000);
  expect(summed(seen)).toEqual([2, 0, 0, 0, 2]);
  expect(readMetric('abandoned_rate', 'rate', seen)).toMatchObject({ value: 1, samples: 2 });
  expect(readMetric('error_rate', 'rate', seen)).toMatchObject({ samples: 0 });
  // None was tried again, and no instance is ejected.
  expect([upstreams[0].seen.length + upstreams[1].seen.length, ejected('waits')]).toEqual([2, '0']);
});

it('a client that leaves after content has cancelled its request', async () => {
  await deployment('content', [upstreams[0]]);
  const leaving = new AbortController();
  everywhere((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n', () => leaving.abort());
  });
  await expect(chat('content', undefined, { stream: true }, leaving.signal)).rejects.toThrow();
  await untilPassing(async () => expect((await stats('content')).counts.cancelled).toBe(1));
  expect(summed(await stored('content'))).toEqual([0, 0, 0, 0, 0]);
});

it('a window has its requests by caller, as the clients saw them', async () => {
  await deployment('callers', upstreams);
  const [odd] = upstreams;
  odd.behaviour = (_request, response) => respondJson(response, 503, {});
  const other = await installation.token(tenant);
  for (const session of ['a', 'b', 'c', 'd']) {
    expect((await chat('callers', session)).status).toBe(200);
    const answer = await ask(gateway, other, { body: { model: 'callers' }, headers: { 'x-session-id': session } });
    expect(answer.status).toBe(200);
  }
  everywhere((_request, response) => respondJson(response, 422, {}));
  expect((await chat('callers', 'a')).status).toBe(422);
  const seen = await stored('callers');
  expect(summed(seen)).toEqual([9, 0, 1, 0, 0]);
  // Eight callers in 64 buckets: some may share one.
  expect(Object.keys(seen.callers ?? {}).length).toBeGreaterThan(4);
});

it('a request that another instance took from an overloaded one counts as neither failed nor overloaded', async () => {
  await deployment('busy', upstreams);
  upstreams[0].behaviour = (_request, response) => respondJson(response, 429, {}, { 'retry-after': '7' });
  await untilPassing(async () => {
    expect((await chat('busy')).status).toBe(200);
    expect(upstreams[0].seen.length).toBeGreaterThan(0);
  });
  const hidden = upstreams[0].seen.length;
  const first = await stored('busy');
  expect(first.counts).toMatchObject({ overloaded: hidden, overloaded_retried: hidden, retried: 0, server_error: 0 });
  expect(readMetric('overloaded_rate', 'rate', first)).toMatchObject({ value: 0 });
  everywhere((_request, response) => respondJson(response, 429, {}, { 'retry-after': '7' }));
  const answer = await chat('busy');
  expect([answer.status, answer.headers.get('retry-after'), ejected('busy')]).toEqual([429, '7', '0']);
  const second = await stored('busy');
  expect(second.counts).toMatchObject({ overloaded: hidden + 2, overloaded_retried: hidden + 1 });
  expect(summed(second)[3]).toBe(1);
});

it.each([
  ['credential', 401, { error: { message: 'bad key sk-1' } }, 'upstream_credential_refused'],
  ['model_missing', 404, { error: { message: 'The model does not exist', code: 'model_not_found' } }, undefined],
  ['redirect', 308, '', undefined],
])('a %s fault is no mistake of the client, and its operator learns of it once', async (fault, status, body, code) => {
  const name = fault.replaceAll('_', '-');
  await deployment(name, upstreams, 'sk-1');
  everywhere((_request, response) => respondJson(response, status, body, { location: 'http://a.example/v1' }));
  for (let n = 0; n < 3; n += 1) {
    const answer = await chat(name);
    expect([answer.status, answer.body.error.code]).toEqual([502, code ?? `upstream_${fault}`]);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(JSON.stringify([...answer.headers]) + answer.text).not.toMatch(/sk-1|a\.example/);
  }
  const logged = installation.logged.filter((line) => line.includes(`"revision":"${name}-1"`));
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain(`"status":${status},"fault":"${fault}"`);
  expect(gateway.metrics()).toMatch(
    new RegExp(`^slipway_gateway_faults_total\\{[^}]*revision="${name}-1",fault="${fault}"\\} [4-9]$`, 'm'),
  );
  // Another instance may have the right one.
  const [, good] = upstreams;
  good.behaviour = (request, response) => good.answer(request, response);
  await installation.revision(tenant, name, `${name}-1`, upstreams, 'sk-2');
  await untilPassing(async () => expect((await chat(name)).status).toBe(200));
});

it('engines get a unique id of each request, and the client its own', async () => {
  await deployment('ids', [upstreams[0]]);
  for (let n = 0; n < 2; n += 1) {
    const answer = await ask(gateway, token, { body: { model: 'ids' }, headers: { 'x-request-id': 'mine' } });
    expect(answer.headers.get('x-request-id')).toBe('mine');
  }
  const own = await ask(gateway, token, { body: { model: 'ids' } });
  const ids = upstreams[0].seen.map(({ headers }) => headers['x-request-id']);
  expect([new Set(ids).size, ids.includes('mine')]).toEqual([3, false]);
  // The id that the gateway created is the same everywhere, so that logs can be compared.
  expect(own.headers.get('x-request-id')).toBe(ids[2]);
});

const USAGE = { prompt_tokens: 70, completion_tokens: 50, total_tokens: 120 };

/** Streams like an engine that reports usage on request. */
async function streamWithUsage(upstream: TestUpstream, request: SeenRequest, response: ServerResponse): Promise<void> {
  const options = request.body['stream_options'] as { include_usage?: boolean } | undefined;
  const chunk = `data: ${JSON.stringify({ choices: [], usage: USAGE })}\n\n`;
  const end = response.end.bind(response);
  response.end = ((text: string) => end((options?.include_usage ? chunk : '') + text)) as typeof response.end;
  await upstream.stream(request, response, { tokens: 3, gapMs: 1 });
}

it('usage is requested of every stream, and only a client that asked for it gets its chunk', async () => {
  await deployment('counted', [upstreams[0]]);
  everywhere((request, response) => streamWithUsage(upstreams[0], request, response));
  const plain = await chat('counted', undefined, { stream: true });
  const asked = await chat('counted', undefined, { stream: true, stream_options: { include_usage: true } });
  const declined = await chat('counted', undefined, { stream: true, stream_options: { include_usage: false } });
  expect([plain, asked, declined].map(({ text }) => text.includes('"usage"'))).toEqual([false, true, false]);
  for (const { text } of [plain, asked, declined]) expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  expect(upstreams[0].seen.map(({ body }) => body['stream_options'])).toEqual([
    { include_usage: true },
    { include_usage: true },
    { include_usage: false },
  ]);
  expect(await stored('counted')).toMatchObject({ tokens_in: 140, tokens_out: 50 + 50 + 3 });
});

it('an engine that refuses to report usage is asked once, and no client notices', async () => {
  await deployment('strict', [upstreams[0]]);
  everywhere((request, response) =>
    'stream_options' in request.body
      ? respondJson(response, 422, { detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs' }] })
      : streamWithUsage(upstreams[0], request, response),
  );
  for (let n = 0; n < 3; n += 1) expect((await chat('strict', undefined, { stream: true })).status).toBe(200);
  expect(upstreams[0].seen.map(({ body }) => 'stream_options' in body)).toEqual([true, false, false, false]);
  // The refusal of a client's own option is the client's.
  const own = await chat('strict', undefined, { stream: true, stream_options: { include_usage: true } });
  expect(own.status).toBe(422);
  expect((await stored('strict')).counts).toEqual({ ...emptyCounts(), ok: 3, client_error: 1 });
  // Other instances may know the option.
  await installation.revision(tenant, 'strict', 'strict-1', [upstreams[1]]);
  upstreams[1].seen.length = 0;
  await untilPassing(async () => {
    expect((await chat('strict', undefined, { stream: true })).status).toBe(200);
    expect(upstreams[1].seen.some(({ body }) => 'stream_options' in body)).toBe(true);
  });
});
