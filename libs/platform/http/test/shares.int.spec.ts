import 'reflect-metadata';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Body, Controller, Module, Param, Query } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  HttpModule,
  noteConnectionUse,
  rawJson,
  requestContext,
  Route,
  SlipwayHttpAdapter,
  type RawJson,
  type Scope,
} from '../src/index.js';

const KIB = 1024;
const LARGE = 400 * KIB;

/** The handlers in progress, by tenant, in the order in which they began. Each waits for `end`. */
interface Handler {
  tenantId: string;
  resource: string | undefined;
  bytes: number;
  end(): void;
}
let handlers: Handler[] = [];

const inProgress = (tenantId: string): number => handlers.filter((one) => one.tenantId === tenantId).length;

async function handle(bytes: number): Promise<RawJson> {
  const { tenantId = '', changedResource: resource, requestId } = requestContext();
  await new Promise<void>((resolve) => handlers.push({ tenantId, resource, bytes, end: resolve }));
  // It must still be the context of this request, although another request let it begin.
  expect(requestContext()).toMatchObject({ tenantId, requestId });
  return rawJson(JSON.stringify({ text: 'x'.repeat(bytes) }));
}

const route = { scope: 'viewer', tag: 'System', summary: 'Sample', ok: { 200: null } } as const;

@Controller()
class WaitingController {
  @Route({ ...route, method: 'GET', path: '/pages', operationId: 'getPages' })
  page(@Query('bytes') bytes: string): Promise<RawJson> {
    return handle(Number(bytes ?? 0));
  }

  @Route({ ...route, method: 'GET', path: '/reports', operationId: 'getReports' })
  report(): Promise<RawJson> {
    noteConnectionUse(requestContext(), 0, 100);
    return handle(0);
  }

  @Route({ ...route, method: 'PATCH', path: '/things/:name/parts', operationId: 'patchParts' })
  change(@Param('name') _name: string, @Body() _body: object): Promise<RawJson> {
    return handle(0);
  }
}

@Module({ imports: [HttpModule], controllers: [WaitingController] })
class WaitingModule {}

const apps: NestFastifyApplication[] = [];
let port: number;
const agent = new Agent({ keepAlive: true });

/** The next requests are sent to this server. */
async function start(lendAfterMs: number): Promise<void> {
  const adapter = new SlipwayHttpAdapter({ lendAfterMs });
  adapter.setGuard(async (request) => {
    const [tenantId = '', id = ''] = (request.headers.authorization ?? '').replace('Bearer ', '').split('/');
    request.slipway.tenantId = tenantId;
    request.slipway.principal = {
      tenantId,
      tenantName: tenantId,
      isOperatorTenant: false,
      actor: { type: 'token', id },
      scopes: new Set<Scope>(['admin']),
      owner: { type: 'person', id: 'alice' },
      minters: [],
    };
  });
  const app = await NestFactory.create<NestFastifyApplication>(WaitingModule, adapter, { logger: false });
  apps.push(app);
  await app.listen(0, '127.0.0.1');
  port = (app.getHttpServer().address() as AddressInfo).port;
}

// The handlers here wait for the test, so the server must not take them for requests that wait for another system.
beforeAll(() => start(60_000));
afterAll(async () => {
  agent.destroy();
  for (const app of apps) await app.close();
});
beforeEach(() => {
  handlers = [];
});

interface SentRequest {
  request: ClientRequest;
  status: Promise<number | undefined>;
}

function send(who: string, path: string, method = 'GET', body?: string): SentRequest {
  const headers = { authorization: `Bearer ${who}`, ...(body && { 'content-type': 'application/json' }) };
  const request = httpRequest({ port, host: '127.0.0.1', method, path: `/api/v1${path}`, headers, agent });
  const status = once(request, 'response').then(([response]) => {
    (response as IncomingMessage).resume();
    return (response as IncomingMessage).statusCode;
  });
  status.catch(() => undefined);
  request.end(body);
  return { request, status };
}

const several = (count: number, one: (index: number) => SentRequest): SentRequest[] =>
  Array.from({ length: count }, (_, i) => one(i));

async function until(what: string, check: () => boolean): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!check()) {
    if (Date.now() > deadline) throw new Error(`not in time: ${what}`);
    // The server is in this process, and must find its event loop idle.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Sends a request and answers it at once. The server has then seen all requests that were sent before. */
async function served(who: string, path: string): Promise<void> {
  const [tenantId] = who.split('/');
  const { status } = send(who, path);
  const mine = () => handlers.findLast((one) => one.tenantId === tenantId);
  await until(`${path} began`, () => mine() !== undefined);
  const handler = mine() as Handler;
  handler.end();
  handlers.splice(handlers.indexOf(handler), 1);
  expect(await status).toBe(200);
}

/** Ends all handlers until these requests are answered. */
async function finish(sent: readonly SentRequest[]): Promise<void> {
  const all = Promise.all(sent.map(({ status }) => status));
  let isDone = false;
  void all.finally(() => (isDone = true));
  await until('all are answered', () => {
    for (const { end } of handlers.splice(0)) end();
    return isDone;
  });
  expect(new Set(await all)).toEqual(new Set([200]));
}

it('serves many large pages of a tenant that is alone at a time', async () => {
  await served('alone/a', `/pages?bytes=${LARGE}`);
  const pages = several(6, () => send('alone/a', `/pages?bytes=${LARGE}`));
  await until('six are in progress', () => inProgress('alone') === 6);
  await finish(pages);
});

it.each([
  ['large pages', `/pages?bytes=${LARGE}`],
  ['requests with many statements', '/reports'],
])(
  'serves %s of a tenant next to another one at a time, whatever the token, and the other at once',
  async (_, path) => {
    await served('other/a', '/pages');
    await served('busy/a', path);
    const pages = several(20, (index) => send(`busy/${index % 5}`, path));
    await until('one is in progress', () => inProgress('busy') === 1);
    // Every request of the other tenant is answered, while all of these are still waiting.
    for (let index = 0; index < 10; index += 1) await served('other/a', '/pages');
    expect(inProgress('busy')).toBe(1);
    await finish(pages);
  },
);

it('serves small answers of a tenant next to another at a time, up to its part', async () => {
  await served('other/a', '/pages');
  await served('small/a', '/pages');
  const pages = several(40, () => send('small/a', '/pages'));
  await until('sixteen are in progress', () => inProgress('small') === 16);
  await served('other/a', '/pages');
  expect(inProgress('small')).toBe(16);
  await finish(pages);
});

it('does not forget that pages are large because small ones were read between them', async () => {
  await served('mixed/a', `/pages?bytes=${LARGE}`);
  for (let index = 0; index < 20; index += 1) await served('mixed/a', '/pages?bytes=1');
  await served('other/a', '/pages');
  const pages = several(5, () => send('mixed/a', `/pages?bytes=${LARGE}`));
  await until('one is in progress', () => inProgress('mixed') > 0);
  await served('other/a', '/pages');
  expect(inProgress('mixed')).toBe(1);
  await finish(pages);
});

it('begins no request whose client has left while it waited', async () => {
  await served('other/a', '/pages');
  await served('left/a', `/pages?bytes=${LARGE}`);
  const first = send('left/a', `/pages?bytes=${LARGE}`);
  await until('the first began', () => inProgress('left') === 1);
  const left = several(5, () => send('left/a', `/pages?bytes=${LARGE}`));
  await served('other/a', '/pages');
  const closed = left.map(({ request }) => new Promise((resolve) => request.on('error', resolve).destroy()));
  await Promise.all(closed);
  const last = send('left/a', '/pages?bytes=7');
  await served('other/a', '/pages');
  const [held] = handlers.splice(
    handlers.findIndex(({ tenantId }) => tenantId === 'left'),
    1,
  );
  held?.end();
  expect(await first.status).toBe(200);
  await until('the next began', () => inProgress('left') > 0);
  expect(handlers.map(({ bytes }) => bytes)).toEqual([7]);
  await finish([last]);
});

it('parses large bodies of a tenant next to another one at a time', async () => {
  await served('other/a', '/pages');
  const body = JSON.stringify({ text: 'x'.repeat(600 * KIB) });
  const changes = several(4, (index) => send('bodies/a', `/things/${index}/parts`, 'PATCH', body));
  await until('one is in progress', () => inProgress('bodies') > 0);
  await served('other/a', '/pages');
  expect(inProgress('bodies')).toBe(1);
  await finish(changes);
});

it('names the resource that a request changes, once for all paths under it and per tenant', async () => {
  const sent = [
    send('names/a', '/things/x%41/parts', 'PATCH'),
    send('names/a', '/things/xA/parts', 'PATCH'),
    send('others/a', '/things/xA/parts', 'PATCH'),
    send('names/a', '/pages'),
  ];
  await until('all began', () => handlers.length === 4);
  expect(handlers.map(({ resource }) => resource).sort()).toEqual([
    'names/api/v1/things/xA',
    'names/api/v1/things/xA',
    'others/api/v1/things/xA',
    undefined,
  ]);
  await finish(sent);
});

it('does not let a request that waits for another system stop the rest of its tenant', async () => {
  await start(200);
  await served('other/a', '/pages');
  await served('slow/a', '/reports');
  const slow = send('slow/a', '/reports');
  await until('it began', () => inProgress('slow') === 1);
  const next = send('slow/a', '/pages');
  await until('the next began as well', () => inProgress('slow') === 2);
  await finish([slow, next]);
});
