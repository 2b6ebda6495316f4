import http from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { publishSlug, supplierContext } from '@slipway/dataplane';
import { sealSecret } from '@slipway/platform-database';
import type { Gateway } from '../src/index.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { ODD_ENGINES } from './odd-engines.js';
import { TestUpstream } from './upstream.js';

type OddName = keyof typeof ODD_ENGINES;
/** The counted class, and the client's answer by deployment and by slug (the same if absent). See `viewOf`. */
type Row = [outcome: string, byDeployment: string, bySlug?: string];

const CREDENTIAL: Row = ['server_error', '502 upstream_credential_refused'];
const MODEL: Row = ['server_error', '502 upstream_model_missing'];
const REDIRECT: Row = ['server_error', '502 upstream_redirect'];
const BAD: Row = ['server_error', '502 upstream_error'];
/** The client of a deployment gets the engine's own words. */
const ENGINE_ERROR: Row = ['server_error', '502', '502 upstream_error'];
const SILENT: Row = ['server_error', '504 upstream_timeout'];
const JSON_ANSWER: Row = ['ok', '200 whole'];
const STREAM: Row = ['ok', '200 stream'];
const BROKEN_STREAM: Row = ['server_error', '200 stream, then an error'];
const refused = (status: number): Row => ['client_error', String(status)];
const overloaded = (status: number): Row => ['overloaded', String(status)];
const NOT_FOUND: Row = ['server_error', '502 upstream_not_found', '502 upstream_error'];
/** A supplier's failure is not the client's to know. */
const failed = (status: number): Row => ['server_error', String(status), '502 upstream_error'];

const TABLE: Record<OddName, Row> = {
  '401 with an error': CREDENTIAL,
  '401 with a page': CREDENTIAL,
  '402 with an error': CREDENTIAL,
  '403 with an error': CREDENTIAL,
  '403 in plain text': CREDENTIAL,
  '403 of a moderation': ['client_error', '403 content_filter'],
  '404 with a page': NOT_FOUND,
  '404 without a body': NOT_FOUND,
  '404 of FastAPI': NOT_FOUND,
  '404 of a model, flat': MODEL,
  '404 of a model, with its code': MODEL,
  '404 of a model to be pulled': MODEL,
  'redirect 301': REDIRECT,
  'redirect 302': REDIRECT,
  'redirect 303': REDIRECT,
  'redirect 307': REDIRECT,
  'redirect 308': REDIRECT,
  'redirect 300 without a location': REDIRECT,
  'status 304': REDIRECT,
  '400 with an error': refused(400),
  '400 of the context length': ['client_error', '400 context_length_exceeded'],
  '400 as a string': refused(400),
  '400 as a list of errors': refused(400),
  '400 in an array': refused(400),
  '400 in plain text': refused(400),
  '405 with a page': refused(405),
  '413 with an error': refused(413),
  '422 with a list of details': refused(422),
  '422 with a text of details': refused(422),
  '408 with an error': overloaded(408),
  '425 with an error': overloaded(425),
  '429 with a time that is over': overloaded(429),
  '429 without a body': overloaded(429),
  '429 with a page': overloaded(429),
  '500 with an error': failed(500),
  '500 with a page': failed(500),
  '500 without a body': failed(500),
  '500 in plain text': failed(500),
  '501 with an error': failed(501),
  '502 with a page': failed(502),
  '503 while it loads': failed(503),
  '503 with a page': failed(503),
  '504 with a page': failed(504),
  '520 with a page': failed(520),

  'error in a 200': ENGINE_ERROR,
  'error as a string in a 200': ENGINE_ERROR,
  'flat error in a 200': ENGINE_ERROR,
  'details in a 200': ENGINE_ERROR,
  'error in an array in a 200': ENGINE_ERROR,
  'null as the error of a good answer': JSON_ANSWER,
  'empty 200': BAD,
  'blank 200': BAD,
  'status 204': BAD,
  'page in a 200': BAD,
  'page in a 200 as JSON': BAD,
  'cut JSON': BAD,
  'JSON with a tail': BAD,
  'a JSON string': BAD,
  'a JSON null': BAD,
  'JSON after a byte order mark': JSON_ANSWER,
  'compressed JSON': JSON_ANSWER,
  'JSON in an unknown encoding': BAD,
  'null content': JSON_ANSWER,
  'null content with a tool call': JSON_ANSWER,
  'an answer that ended with an error': BAD,
  'an answer that was aborted': BAD,
  'events as JSON': BAD,

  'a good stream': STREAM,
  'a stream without a terminator': STREAM,
  'a stream without a reason to finish': STREAM,
  'a stream that just ends': BROKEN_STREAM,
  'an empty stream': BAD,
  'a stream of comments': BROKEN_STREAM,
  'a stream of null content': STREAM,
  'an error as the first event': ENGINE_ERROR,
  'an error with an event name': ENGINE_ERROR,
  'an error in a field of its own': ENGINE_ERROR,
  'an error in mid-stream': BROKEN_STREAM,
  'an error in mid-stream, then a terminator': BROKEN_STREAM,
  'an error in a field of its own in mid-stream': BROKEN_STREAM,
  'a stream that ended with an error': ['server_error', '200 stream', '200 stream, then an error'],
  'a stream that was aborted': ['server_error', '200 stream', '200 stream, then an error'],
  'two choices, one unfinished': BROKEN_STREAM,
  'two choices, both finished': STREAM,
  'an empty reason to finish': STREAM,
  'only an empty reason to finish': BROKEN_STREAM,
  'usage after the end': STREAM,
  'events with CRLF': STREAM,
  'events with CR': STREAM,
  'events without a space': STREAM,
  'events in several lines': STREAM,
  'events after a byte order mark': STREAM,
  'events with names, ids and comments': STREAM,
  'events byte by byte': STREAM,
  'an event that cannot be read': BROKEN_STREAM,
  'a page as a stream': BAD,
  'JSON as a stream': BAD,

  'a stream that breaks': BROKEN_STREAM,
  'JSON that breaks': BAD,
  'a head that breaks': BAD,
  'no head': SILENT,
  'nothing after the head': SILENT,
  'nothing after the head of a stream': SILENT,
  'nothing after the first event': BROKEN_STREAM,
  'nothing after half of the JSON': SILENT,
  'a closed connection': ['connect_error', '503 unavailable'],
};

const SLUG = 'acme/odd';
const BINDING = 'bnd_odd';
/** Codes that a client may rely on; others are the engine's. */
const CODES = /^(upstream_\w+|unavailable|context_length_exceeded|content_filter)$/;

let installation: GatewayInstallation;
let gateway: Gateway;
let token: TestToken;
let engine: TestUpstream;

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  const tenant = await installation.tenant('acme');
  token = await installation.token(tenant);
  engine = await TestUpstream.start('odd');
  await installation.revision(tenant, 'odd', 'odd-1', [engine]);
  await installation.route(tenant, 'odd', { 'odd-1': 100 });
  await publishSlug(installation.db, {
    slug: SLUG,
    tenantId: tenant,
    productId: 'prd_1',
    audience: { visibility: 'shared', tenants: [] },
    bindings: [
      {
        binding_id: BINDING,
        weight: 1,
        priority: 0,
        upstream: {
          kind: 'supplier',
          base_url: `${engine.url}/v1`,
          model: 'loaded',
          credential: sealSecret(installation.keyRing, 'sk', supplierContext(tenant, BINDING)),
          guard: { allow: ['http://127.0.0.1:*'] },
        },
      },
    ],
  });
  gateway = await installation.gateway({
    maxAttempts: 1,
    headTimeoutMs: 300,
    silenceTimeoutMs: 300,
    ejection: { failures: 1_000_000, baseMs: 1, mostMs: 1 },
  });
  for (const model of ['odd', SLUG]) await untilPassing(async () => expect(await view(model, false)).toBe('200 whole'));
});
afterAll(async () => {
  await installation.destroy();
  await engine.stop();
});

interface ReceivedAnswer {
  status: number;
  type: string;
  text: string;
}

/** Resolves with all that arrived, even if the connection breaks. */
function receive(model: string, isStream: boolean): Promise<ReceivedAnswer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token.text}`, 'content-type': 'application/json' };
    const options = { port: gateway.port, path: '/v1/chat/completions', method: 'POST', headers };
    const request = http.request(options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => (text += piece));
      response.on('error', () => undefined);
      response.on('close', () =>
        resolve({ status: response.statusCode as number, type: response.headers['content-type'] ?? '', text }),
      );
    });
    request.on('error', reject);
    request.end(JSON.stringify({ model, messages: [], stream: isStream }));
  });
}

/** Describes an answer in a few words: its status, and the code of an error or the kind of a good answer. */
function viewOf({ status, type, text }: ReceivedAnswer): string {
  if (type.startsWith('text/event-stream'))
    return `${status} stream${/^(data: ?\{"error":|error:)/m.test(text) ? ', then an error' : ''}`;
  const body = JSON.parse(text.replace(/^\ufeff/, '')) as { choices?: unknown; error?: Record<string, unknown> };
  if (status === 200 && body.choices) return '200 whole';
  expect(body.error?.['message']).toMatch(/./);
  const code = String(body.error?.['code'] ?? '');
  return CODES.test(code) ? `${status} ${code}` : String(status);
}

const view = async (model: string, isStream: boolean): Promise<string> => viewOf(await receive(model, isStream));

/** Returns the attempts by class of a revision or binding since the start. */
function counts(revision: string): Map<string, number> {
  const lines = gateway
    .metrics()
    .matchAll(/^slipway_gateway_attempts_total\{[^}]*revision="([^"]*)",class="(\w+)"\} (\d+)$/gm);
  return new Map([...lines].filter(([, name]) => name === revision).map(([, , name, count]) => [name!, Number(count)]));
}

it('the table has at least 60 engines', () => expect(Object.keys(TABLE).length).toBeGreaterThanOrEqual(60));

it.each(Object.keys(TABLE) as OddName[])('an engine sends %s', async (name) => {
  const [outcome, byDeployment, bySlug = byDeployment] = TABLE[name];
  engine.behaviour = (_request, response) => ODD_ENGINES[name](response);
  const seen: Record<string, unknown> = {};
  for (const [model, revision] of [
    ['odd', 'odd-1'],
    [SLUG, BINDING],
  ] as const)
    for (const isStream of [false, true]) {
      const before = counts(revision);
      const shown = await view(model, isStream);
      const counted = [...counts(revision)].filter(([key, count]) => count > (before.get(key) ?? 0));
      seen[`${model} ${isStream ? 'streamed' : 'whole'}`] = [shown, ...counted.map(([key]) => key)];
    }
  expect(seen).toEqual({
    'odd whole': [byDeployment, outcome],
    'odd streamed': [byDeployment, outcome],
    [`${SLUG} whole`]: [bySlug, outcome],
    [`${SLUG} streamed`]: [bySlug, outcome],
  });
});
