import http, { type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { publishSlug } from '@slipway/dataplane';
import type { Gateway } from '../src/index.js';
import { ask, type TestAnswer } from './client.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { TestUpstream } from './upstream.js';

/** Clients and model servers that send data to block or fill a process. */
const MIB = 1024 * 1024;
const SLUG = 'acme/chat';

let installation: GatewayInstallation;
let gateway: Gateway;
let token: TestToken;
let colleague: TestToken;
let other: TestToken;
let upstream: TestUpstream;

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  const tenant = await installation.tenant('hostile');
  const otherTenant = await installation.tenant('quiet');
  token = await installation.token(tenant);
  colleague = await installation.token(tenant);
  other = await installation.token(otherTenant);
  upstream = await TestUpstream.start('one');
  for (const [owner, name] of [
    [tenant, 'chat'],
    [otherTenant, 'quiet'],
  ] as const) {
    await installation.revision(owner, name, `${name}-1`, [upstream]);
    await installation.route(owner, name, { [`${name}-1`]: 100 });
  }
  await publishSlug(installation.db, {
    slug: SLUG,
    tenantId: tenant,
    productId: 'prd_1',
    bindings: [
      {
        binding_id: 'bnd_1',
        weight: 1,
        priority: 0,
        upstream: {
          kind: 'supplier',
          base_url: upstream.url,
          model: 'm',
          credential: null,
          guard: { allow: ['http://127.0.0.1:*'] },
        },
      },
    ],
    audience: { visibility: 'shared', tenants: [] },
  });
  gateway = await installation.gateway({
    maxHeldBytes: { process: 40 * MIB, tenant: 34 * MIB, token: 33 * MIB },
    ejection: { failures: 1_000, baseMs: 1, mostMs: 1 },
  });
  await untilPassing(async () => expect((await chat(token, { model: SLUG })).status).toBe(200));
});
afterAll(async () => {
  await installation.destroy();
  await upstream.stop();
});
beforeEach(() => {
  upstream.behaviour = (request, response) => upstream.answer(request, response);
  upstream.seen.length = 0;
  upstream.cancelled = 0;
});

const chat = (as: TestToken, body: object | string): Promise<TestAnswer> => ask(gateway, as, { body });
const outcome = ({ status, body }: TestAnswer): unknown[] => [status, body.error?.code];
/**
 * Returns the longest time that this process, with its gateway, spent on one task: milliseconds of processor time,
 * whatever else runs here.
 */
async function longestStop(work: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  let longest = 0;
  let before = process.cpuUsage();
  const tick = (): void => {
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, (user + system) / 1_000);
    before = process.cpuUsage();
    if (!isOver) setImmediate(tick);
  };
  tick();
  await work();
  isOver = true;
  return longest;
}

/** `JSON.parse` takes seconds for what these tests send. */
const LONGEST_STOP_MS = 1_000;

/** Resolves with the received bytes of an answer, even of one that breaks. */
function sent(body: Buffer | string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token.text}`, 'content-type': 'application/json' };
    const options = { port: gateway.port, path: '/v1/chat/completions', method: 'POST', headers };
    const request = http.request(options, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('error', () => undefined);
      response.on('close', () => resolve(text));
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Writes pieces for as long as they are read. */
function pour(response: ServerResponse, piece: string): void {
  const more = (): void => {
    while (!response.destroyed) if (!response.write(piece)) return void response.once('drain', more);
  };
  more();
}

it('a long body of only brackets blocks no other request', async () => {
  const body = Buffer.from(`{"model":"nobody","messages":[${'[],'.repeat((31 * MIB) / 3)}[]]}`);
  let answer = '';
  const stopped = await longestStop(async () => (answer = await sent(body)));
  expect(answer).toContain('"model_not_found"');
  expect(stopped).toBeLessThan(LONGEST_STOP_MS);
});

it('bodies in flight are bounded by bytes, for a token, a tenant and the process', async () => {
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  upstream.behaviour = async (request, response) => {
    await gate;
    upstream.answer(request, response);
  };
  const long = (bytes: number, model = 'chat') => ({ model, messages: [], padding: 'x'.repeat(bytes) });
  const first = chat(token, long(20 * MIB));
  await untilPassing(() => expect(upstream.seen).toHaveLength(1));
  const beyond = await chat(token, long(14 * MIB));
  expect([...outcome(beyond), beyond.headers.get('retry-after')]).toEqual([503, 'overloaded', '1']);
  expect(beyond.text).toContain('this token');
  expect((await chat(colleague, long(15 * MIB))).text).toContain('this tenant');
  expect((await chat(other, long(21 * MIB, 'quiet'))).text).toContain('all clients');
  const small = chat(other, long(1 * MIB, 'quiet'));
  await untilPassing(() => expect(upstream.seen).toHaveLength(2));
  release();
  expect([(await first).status, (await small).status]).toEqual([200, 200]);
  expect(gateway.metrics()).toMatch(/^slipway_gateway_held_bytes 0$/m);
  expect((await chat(token, long(20 * MIB))).status).toBe(200);
});

it.each([
  ['without an end of a line', 'x'.repeat(MIB / 16)],
  ['whose lines are longer than an event', `data: "${'x'.repeat(2 * MIB)}"\n\n`],
  ['whose events take long to parse', `data: {"choices":[${'[],'.repeat(200_000)}[]]}\n\n`],
])('a stream %s is ended, for the client and for the supplier', async (_what, piece) => {
  upstream.behaviour = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    pour(response, piece);
  };
  expect(await sent(JSON.stringify({ model: SLUG, stream: true }))).toContain(
    'The response of the model server is too large.',
  );
  await untilPassing(() => expect(upstream.cancelled).toBe(1));
});

it.each([
  ['an answer that takes long to parse', 200, `[${'[],'.repeat(MIB)}`, 502],
  ['an answer that is no JSON', 200, 'x'.repeat(MIB), 502],
  // The limit of the token is reached here before that of one answer.
  ['an answer that never ends', 200, `"${'x'.repeat(MIB)}`, 503],
  ['an error that never ends', 400, 'x'.repeat(MIB), 400],
])('%s of a supplier is not read for ever', async (_what, status, piece, expected) => {
  upstream.behaviour = (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.write(piece);
    pour(response, piece.slice(1));
  };
  let answer: TestAnswer | undefined;
  const stopped = await longestStop(async () => (answer = await chat(token, { model: SLUG })));
  expect(answer?.status).toBe(expected);
  await untilPassing(() => expect(upstream.cancelled).toBe(1));
  expect(stopped).toBeLessThan(LONGEST_STOP_MS);
});

it('an endless error of a tenant’s own engine is cut after its beginning', async () => {
  upstream.behaviour = (_request, response) => {
    response.writeHead(422, { 'content-type': 'text/plain' });
    pour(response, 'no such sampler '.repeat(MIB / 16));
  };
  const answer = await chat(token, { model: 'chat' });
  expect(answer.status).toBe(422);
  await untilPassing(() => expect(upstream.cancelled).toBe(1));
});

it.each([
  ['without an end', 0],
  ['one after the other', 20],
])('an engine that answers only with interim answers, %s, does not hold a request', async (_what, pauseMs) => {
  const interim = 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(pauseMs === 0 ? 1_000 : 1);
  upstream.behaviour = (_request, response) => {
    const { socket } = response;
    const more = (): void => {
      if (!socket || socket.destroyed) return;
      const isTaken = socket.write(interim);
      if (pauseMs > 0) setTimeout(more, pauseMs);
      else if (isTaken) setImmediate(more);
      else socket.once('drain', more);
    };
    more();
  };
  expect(outcome(await chat(token, { model: 'chat' }))).toEqual([504, 'upstream_timeout']);
  await untilPassing(() => expect(upstream.cancelled).toBe(1));
});
