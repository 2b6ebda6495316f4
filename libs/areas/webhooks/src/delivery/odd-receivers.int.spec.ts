import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { RawReceiver } from '../../test/raw-receiver.js';
import { Receiver } from '../../test/receiver.js';
import { QUICK, until, WebhooksBed } from '../../test/webhooks-bed.js';

const TIMING = { ...QUICK, timeoutMs: 1_500, leaseMs: 4_500, retryDelaysMs: [] };

let bed: WebhooksBed;
const receivers: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  bed = await WebhooksBed.start(
    {},
    { operator: { targets: [], secrets: {}, outbound: { webhooks: ['http://127.0.0.1:*', 'https://127.0.0.1:*'] } } },
  );
}, 60_000);
afterAll(() => bed?.stop());
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.stop();
  await bed.idle();
});

type Behave = (socket: Socket, receiver: RawReceiver) => void;
type Result = [status: string, response: number | null, error: string | null];

const OK = 'HTTP/1.1 200 OK\r\n';
const answer =
  (text: string): Behave =>
  (socket) =>
    void socket.write(text);
const FAILED = (error: string, response: number | null = null): Result => ['failed', response, error];
const TAKEN: Result = ['succeeded', 200, null];
const CUT: Result = ['succeeded', 200, 'response_cut'];

const KINDS: Record<string, [behave: Behave, result: Result, scheme?: 'https']> = {
  'reads and never answers': [() => undefined, FAILED('timeout')],
  'drips a status line': [
    (socket, receiver) => {
      socket.write('HTTP/1.1 200 ');
      receiver.drip(socket, 'O');
    },
    FAILED('timeout'),
  ],
  'drips a header': [
    (socket, receiver) => {
      socket.write(`${OK}x-slow: `);
      receiver.drip(socket, 'a');
    },
    FAILED('timeout'),
  ],
  'sends headers without an end': [
    (socket, receiver) => {
      const more = `x-more: ${'a'.repeat(1_000)}\r\n`;
      socket.write(OK + more.repeat(32));
      receiver.drip(socket, more);
    },
    FAILED('invalid_response'),
  ],
  'sends only interim answers': [
    (socket, receiver) => receiver.drip(socket, 'HTTP/1.1 100 Continue\r\n\r\n'),
    FAILED('timeout'),
  ],
  'sends an interim answer first': [answer(`HTTP/1.1 100 Continue\r\n\r\n${OK}content-length: 2\r\n\r\nok`), TAKEN],
  'drips its body': [
    (socket, receiver) => {
      socket.write(`${OK}content-length: 100000\r\n\r\n`);
      receiver.drip(socket, '.');
    },
    CUT,
  ],
  'drips chunks without an end': [
    (socket, receiver) => {
      socket.write(`${OK}transfer-encoding: chunked\r\n\r\n`);
      receiver.drip(socket, '1\r\n.\r\n');
    },
    CUT,
  ],
  'drips a refusal': [
    (socket, receiver) => {
      socket.write('HTTP/1.1 500 Oops\r\ncontent-length: 100000\r\n\r\n');
      receiver.drip(socket, '.');
    },
    FAILED('http_status', 500),
  ],
  'closes in the middle of its body': [(socket) => void socket.end(`${OK}content-length: 100\r\n\r\nhalf`), CUT],
  'closes without an answer': [(socket) => void socket.end(), FAILED('connection_failed')],
  'resets the connection': [(socket) => void socket.resetAndDestroy(), FAILED('connection_failed')],
  'answers something else than HTTP': [answer('220 mail.example.com ESMTP\r\n'), FAILED('invalid_response')],
  'answers with a body without an end': [
    (socket, receiver) => {
      socket.write(`${OK}transfer-encoding: chunked\r\n\r\n`);
      receiver.drip(socket, `10000\r\n${'a'.repeat(65_536)}\r\n`, 1);
    },
    TAKEN,
  ],
  'announces a huge body': [
    (socket, receiver) => {
      socket.write(`${OK}content-length: 999999999999\r\n\r\n`);
      receiver.drip(socket, 'a'.repeat(65_536), 1);
    },
    TAKEN,
  ],
  'answers with a body that would inflate': [
    answer(`${OK}content-encoding: gzip\r\ncontent-length: 4\r\n\r\n\x1f\x8b\x08\x00`),
    TAKEN,
  ],
  'keeps the connection open': [answer(`${OK}connection: keep-alive\r\ncontent-length: 0\r\n\r\n`), TAKEN],
  'switches protocols': [
    answer('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    FAILED('invalid_response'),
  ],
  'redirects, and keeps the method': [
    answer('HTTP/1.1 308 Permanent Redirect\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n'),
    FAILED('redirect', 308),
  ],
  'has not changed': [answer('HTTP/1.1 304 Not Modified\r\n\r\n'), FAILED('redirect', 304)],
  'does not speak TLS': [answer('HTTP/1.1 400 Bad Request\r\n\r\n'), FAILED('tls_failed'), 'https'],
};

it('each kind of receiver is cut off in time and recorded, and holds up no other', async () => {
  const webhooks = new Map<string, { id: string; tenant: string; receiver: RawReceiver }>();
  for (const [index, [kind, [behave, , scheme = 'http']]] of Object.entries(KINDS).entries()) {
    const receiver = await RawReceiver.start(behave);
    receivers.push(receiver);
    const tenant = `ten_${index}`;
    const { id } = await bed.register({ url: `${scheme}://${receiver.host}/` }, tenant);
    webhooks.set(kind, { id, tenant, receiver });
    await bed.append(`odd-${index}`, ['route.updated'], tenant);
  }
  const usual = await Receiver.start();
  receivers.push(usual);
  await bed.register({ url: usual.url }, 'ten_usual');
  await bed.worker(TIMING);
  await bed.append('usual', ['route.updated'], 'ten_usual');
  await until('the event of a usual receiver', () => usual.received.length === 1);

  const results = async () => {
    const found: Record<string, unknown> = {};
    for (const [kind, { id, tenant }] of webhooks) {
      const [row] = await bed.deliveries(id, tenant);
      found[kind] = row && row.status !== 'pending' && [row.status, row.response_status, row.error];
    }
    return found;
  };
  await until('all to end', async () => Object.values(await results()).every(Boolean), results);
  expect(await results()).toEqual(Object.fromEntries(Object.entries(KINDS).map(([kind, [, end]]) => [kind, end])));
  for (const { id, tenant } of webhooks.values()) {
    const [{ duration_ms: durationMs }] = (await bed.deliveries(id, tenant)) as [{ duration_ms: number }];
    expect(durationMs).toBeGreaterThanOrEqual(0);
    // The limit of the request, and a margin for a busy machine.
    expect(durationMs).toBeLessThan(TIMING.timeoutMs + 1_500);
  }
  // Connections are closed, except those whose answer was complete: they may be used again.
  const isReusable = /keeps|interim answer first|would inflate|redirects|has not/;
  const open = () =>
    [...webhooks].filter(([kind, { receiver }]) => !isReusable.test(kind) && receiver.open > 0).map(([kind]) => kind);
  await until('the others to be closed', () => open().length === 0, open);
}, 60_000);
