import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cut, json, refusal, silent, UnrulyServer, type UnrulyAnswer } from '../../test/unruly-server.js';
import { isSlipwayError, SlipwayError } from '../index.js';

let server: UnrulyServer;
beforeAll(async () => {
  server = await UnrulyServer.start();
});
afterAll(() => server?.stop());

const NOW = { 'retry-after': '0' };
const whoAmI = json(200, { scopes: ['viewer'] });
const envelope = json(202, { created: true, operation: { id: 'op_1' } });
const failureOf = (call: PromiseLike<unknown>): Promise<any> =>
  Promise.resolve(call).then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error,
  );
const codeOf = async (call: PromiseLike<unknown>): Promise<string> => (await failureOf(call)).code;

describe('a request', () => {
  it('is sent to the documented address, with the token, the query and the body', async () => {
    server.does(json(200, { data: [], next_cursor: null }));
    await server.client().deployments.events.list('a/b ä', { limit: 3, type: 'route.updated' });
    await server.client({ baseUrl: `${server.url}/behind/` }).tokens.create({ name: 'ci', scopes: ['viewer'] });
    expect(server.seen.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['GET', '/api/v1/deployments/a%2Fb%20%C3%A4/events?type=route.updated&limit=3', ''],
      ['POST', '/behind/api/v1/tokens?strict=true', '{"name":"ci","scopes":["viewer"]}'],
    ]);
    expect(server.seen[1]?.headers).toMatchObject({
      authorization: 'Bearer slw_a_b',
      'content-type': 'application/json',
      accept: 'application/json',
    });
    expect(server.seen[1]?.headers['idempotency-key']).toMatch(/^[0-9a-f]{32}$/);
    server.does(json(200, {}));
    await server.client().deployments.update('chat', { description: 'a' });
    expect(server.seen[0]?.headers).not.toHaveProperty('idempotency-key');
  });

  it.each(['', '/', '/api/v1', '/api/v1/', '//api/v1//'])('takes a base URL that ends with "%s"', async (end) => {
    server.does(whoAmI);
    await server.client({ baseUrl: `${server.url}${end}` }).whoAmI();
    await server.client({ baseUrl: `${server.url}/behind${end}` }).whoAmI();
    expect(server.seen.map(({ url }) => url)).toEqual(['/api/v1/whoami', '/behind/api/v1/whoami']);
    expect(() => server.client({ baseUrl: 'ftp://slipway.test' })).toThrow('must start with http');
  });

  it('lets the api refuse unknown fields of its body, unless the client or the call allows them', async () => {
    server.does(json(200, {}));
    const { deployments } = server.client();
    const lenient = server.client({ strict: false }).deployments;
    await deployments.update('a', {});
    await deployments.rollouts.rehearse('a', {});
    await deployments.update('a', {}, { strict: false });
    await lenient.update('a', {});
    await lenient.update('a', {}, { strict: true });
    await deployments.get('a');
    const queries = server.seen.map(({ url }) => new URL(url, server.url).search);
    expect(queries).toEqual(['?strict=true', '?validate_only=true&strict=true', '', '', '?strict=true', '']);
  });

  it.each(['', '.', '..'])('never reaches another operation by the name %j', async (name) => {
    server.does(whoAmI);
    expect((await failureOf(server.client().deployments.get(name))).message).toContain('name must have a value');
    expect(server.seen).toEqual([]);
  });

  it('reads the token for each try: it may have been renewed', async () => {
    server.does(refusal(503, 'unavailable', true, NOW), whoAmI);
    let asked = 0;
    await server.client({ token: async () => `jwt-${(asked += 1)}` }).whoAmI();
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer jwt-1', 'Bearer jwt-2']);
  });

  it('sends the token to no other server', async () => {
    server.does((response) => response.writeHead(307, { location: '/api/v1/elsewhere' }).end());
    expect(await codeOf(server.client({ maxRetries: 0 }).whoAmI())).toBe('connection_failed');
    expect(server.seen).toHaveLength(1);
  });
});

describe('an answer', () => {
  it('may have values and fields that this version does not know', async () => {
    server.does(json(200, { id: 'op_1', status: 'hibernating', current_step_status: 'dreaming', new_field: 1 }));
    const operation = await server.client().operations.get('op_1');
    expect(operation).toEqual({ id: 'op_1', status: 'hibernating', current_step_status: 'dreaming', new_field: 1 });
    // Types must let a switch see it too.
    const other: (typeof operation)['status'] = 'hibernating';
    expect(operation.status).toBe(other);
  });

  it("that refuses is an error with the api's body, by its code", async () => {
    const body = {
      code: 'capacity_exhausted',
      message: 'full',
      category: 'conflict',
      remediation: 'recreate',
      request_id: 'req_7',
      retryable: false,
      operation_id: 'op_2',
      details: [{ field: 'a', code: 'b', message: 'c' }],
    };
    server.does(json(409, { error: body }));
    const error = await failureOf(server.client().deployments.get('chat'));
    expect(error).toBeInstanceOf(SlipwayError);
    expect({ ...error, message: error.message }).toMatchObject({
      code: 'capacity_exhausted',
      status: 409,
      retryable: false,
      message: 'full',
      body,
    });
    expect([error.request_id, error.remediation, error.category, error.details]).toEqual([
      'req_7',
      'recreate',
      'conflict',
      body.details,
    ]);
    expect([
      isSlipwayError(error, 'not_found', 'capacity_exhausted'),
      isSlipwayError(error, 'not_found'),
      isSlipwayError(error),
      isSlipwayError(new Error()),
    ]).toEqual([true, false, true, false]);
    expect(server.seen).toHaveLength(1);
  });

  it('of another server is reported as unexpected', async () => {
    server.does((response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>nginx</h1>'));
    expect(await failureOf(server.client().whoAmI())).toMatchObject({ code: 'unexpected_answer', status: 404 });
    server.does((response) => response.writeHead(200).end('<h1>Welcome</h1>'));
    expect(await failureOf(server.client().whoAmI())).toMatchObject({ code: 'unexpected_answer', status: 200 });
    server.does((response) => response.writeHead(502, NOW).end('bad gateway'), whoAmI);
    expect(await server.client().whoAmI()).toEqual({ scopes: ['viewer'] });
  });
});

describe('a failed call', () => {
  it('is retried after the time that the api requests', async () => {
    server.does(refusal(429, 'rate_limited', true, { 'retry-after': '1' }), whoAmI);
    const startedAt = performance.now();
    await server.client().whoAmI();
    expect(performance.now() - startedAt).toBeGreaterThan(990);
    expect(server.seen).toHaveLength(2);
  });

  it('is also retried at a date', async () => {
    const date = new Date(Date.now() + 2_000).toUTCString();
    server.does(refusal(503, 'unavailable', true, { 'retry-after': date }), whoAmI);
    await server.client().whoAmI();
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(date) - 20);
  });

  it('is given up if the api requests too long a wait, says that a retry will not help, or keeps failing', async () => {
    server.does(refusal(429, 'rate_limited', true, { 'retry-after': '3600' }));
    expect(await failureOf(server.client().whoAmI())).toMatchObject({ code: 'rate_limited', retryAfterMs: 3_600_000 });
    server.does(refusal(503, 'unavailable', false, NOW));
    expect(await codeOf(server.client().whoAmI())).toBe('unavailable');
    expect(server.seen).toHaveLength(1);
    server.does(refusal(503, 'unavailable', true, NOW));
    expect(await codeOf(server.client().whoAmI())).toBe('unavailable');
    expect(server.seen).toHaveLength(5);
    server.does(refusal(503, 'unavailable', true, NOW));
    expect(await codeOf(server.client({ maxRetries: 3 }).whoAmI({ maxRetries: 1 }))).toBe('unavailable');
    expect(server.seen).toHaveLength(2);
  });

  it('keeps its idempotency key through its retries, and no two calls share one', async () => {
    const { rollouts } = server.client().deployments;
    server.does(
      cut,
      refusal(409, 'idempotency_in_progress', true, NOW),
      refusal(503, 'unavailable', true, NOW),
      envelope,
    );
    expect(await rollouts.create('chat', { spec_patch: {} })).toEqual({ created: true, operation: { id: 'op_1' } });
    const keys = server.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(4);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(server.seen.map(({ body }) => body))).toEqual(new Set(['{"spec_patch":{}}']));

    server.does(envelope);
    await rollouts.create('chat', { spec_patch: {} });
    await rollouts.create('chat', { spec_patch: {} }, { idempotencyKey: 'mine' });
    expect(server.seen[0]?.headers['idempotency-key']).not.toBe(keys[0]);
    expect(server.seen[1]?.headers['idempotency-key']).toBe('mine');
  });

  it('is not retried if it may have been done: a POST without a key, a change that names an etag, a stream', async () => {
    const { admin, deployments, sandboxes } = server.client();
    const { publications } = admin.modelApi;
    const publication = { product_id: 'prd_1', bindings: [{ binding_id: 'bnd_1' }] };
    for (const answer of [cut, refusal(503, 'unavailable', true, NOW)]) {
      server.does(answer, json(200, {}));
      await failureOf(publications.create(publication));
      expect(server.seen).toHaveLength(1);
      server.does(answer, json(200, {}));
      await failureOf(deployments.update('chat', { description: 'a' }, { ifMatch: '"1"' }));
      expect(server.seen.map(({ headers }) => headers['if-match'])).toEqual(['"1"']);
      server.does(answer, json(200, {}));
      const bytes = new Blob(['abc']).stream() as ReadableStream<Uint8Array>;
      await failureOf(sandboxes.files.upload('sbx_1', 'a.txt', bytes));
      expect(server.seen).toHaveLength(1);
    }
    server.does(refusal(429, 'rate_limited', true, NOW), json(201, { id: 'pub_1' }));
    await publications.create(publication);
    expect(server.seen).toHaveLength(2);
    // Nothing was done, but the first try has read the stream.
    server.does(refusal(429, 'rate_limited', true, NOW), json(201, {}));
    const bytes = new Blob(['abc']).stream() as ReadableStream<Uint8Array>;
    expect(await codeOf(sandboxes.files.upload('sbx_1', 'a.txt', bytes))).toBe('rate_limited');
  });

  it('is retried if its answer was cut off in the middle', async () => {
    server.does((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"scopes":', () => setTimeout(() => response.destroy(), 20));
    }, whoAmI);
    expect(await server.client().whoAmI()).toEqual({ scopes: ['viewer'] });
  });

  it('has a time limit for each try, to the end of its answer', async () => {
    server.does(silent, whoAmI);
    expect(await server.client({ timeoutMs: 100 }).whoAmI()).toEqual({ scopes: ['viewer'] });
    server.does((response) => response.writeHead(200).write('{'));
    const patient = server.client({ timeoutMs: 600_000 });
    expect(await codeOf(patient.whoAmI({ timeoutMs: 100, maxRetries: 0 }))).toBe('timed_out');
  });

  it('names the address that gives no answer', async () => {
    const error = await failureOf(server.client({ baseUrl: 'http://127.0.0.1:1', maxRetries: 0 }).whoAmI());
    expect(error).toMatchObject({
      code: 'connection_failed',
      message: 'GET http://127.0.0.1:1/api/v1/whoami: no response',
    });
    expect(String(error.cause)).toContain('fetch failed');
  });
});

describe('an abort', () => {
  // The time-out, which would end it too, is too far off to matter.
  it.each([0, 4])('ends a try, and is the failure, with %i tries left', async (maxRetries) => {
    server.does(silent);
    const stop = new AbortController();
    const call = failureOf(server.client({ timeoutMs: 600_000, maxRetries }).whoAmI({ signal: stop.signal }));
    await server.until(1);
    const reason = new Error('changed my mind');
    stop.abort(reason);
    expect(await call).toBe(reason);
    await server.seen[0]?.closed;
    expect(server.seen).toHaveLength(1);
  });

  it('ends a download in its middle', async () => {
    server.does((response) => response.writeHead(200).write('half'));
    const stop = new AbortController();
    const { files } = server.client().sandboxes;
    const reader = (await files.download('sbx_1', 'a', { signal: stop.signal })).body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('half');
    stop.abort(new Error('enough'));
    await expect(reader.read()).rejects.toThrow('enough');
    await server.seen[0]?.closed;
  });

  it('leaves no listener when the call is over', async () => {
    const { signal } = new AbortController();
    server.does(refusal(503, 'unavailable', true, NOW), whoAmI);
    await server.client().whoAmI({ signal });
    server.does(json(200, { data: [], next_cursor: null }));
    for await (const _one of server.client().deployments.list({ signal }));
    server.does((response) => response.writeHead(200).end('all'));
    expect(await (await server.client().sandboxes.files.download('sbx_1', 'a', { signal })).text()).toBe('all');
    server.does((response) => response.writeHead(204).end());
    for await (const _one of server.client().operations.events.follow('op_1', { signal }));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('ends the pause between tries', async () => {
    server.does(refusal(503, 'unavailable', true, { 'retry-after': '60' }));
    const call = failureOf(server.client().whoAmI({ signal: AbortSignal.timeout(1_000) }));
    expect((await call).name).toBe('TimeoutError');
    expect(server.seen).toHaveLength(1);
  });
});

describe('a list', () => {
  const pages: UnrulyAnswer = (response, seen) => {
    const at = Number(new URL(seen.url, server.url).searchParams.get('cursor') ?? 0);
    const data = [{ name: `d-${at}` }, { name: `d-${at + 1}` }];
    return json(200, { data, next_cursor: at < 4 ? String(at + 2) : null })(response, seen);
  };

  it('is its first page, and all rows of all pages', async () => {
    server.does(pages);
    const { deployments } = server.client();
    expect(await deployments.list({ limit: 2 })).toEqual({
      data: [{ name: 'd-0' }, { name: 'd-1' }],
      next_cursor: '2',
    });
    const names: string[] = [];
    for await (const { name } of deployments.list({ limit: 2, label: 'team=a' })) names.push(name);
    expect(names).toEqual(['d-0', 'd-1', 'd-2', 'd-3', 'd-4', 'd-5']);
    expect(server.seen.slice(1).map(({ url }) => url)).toEqual([
      '/api/v1/deployments?label=team%3Da&limit=2',
      '/api/v1/deployments?label=team%3Da&limit=2&cursor=2',
      '/api/v1/deployments?label=team%3Da&limit=2&cursor=4',
    ]);
  });

  it('is read only as far as needed', async () => {
    server.does(pages);
    const list = server.client().deployments.list();
    expect(server.seen).toHaveLength(0);
    for await (const page of list.pages()) if (page.data[0]?.name === 'd-2') break;
    expect(server.seen).toHaveLength(2);
  });
});

describe('a file', () => {
  it('is uploaded and downloaded as bytes', async () => {
    server.does(json(201, { path: 'a b.bin' }), (response) =>
      response.writeHead(200, { etag: '"e"' }).end(Buffer.from([0, 255, 7])),
    );
    const { files } = server.client().sandboxes;
    await files.upload('sbx_1', 'a b.bin', new TextEncoder().encode('hello'), { overwrite: false });
    const answer = await files.download('sbx_1', 'a b.bin');
    expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([0, 255, 7]);
    expect(server.seen.map(({ url, body }) => [url, body])).toEqual([
      ['/api/v1/sandboxes/sbx_1/files?path=a+b.bin&overwrite=false', 'hello'],
      ['/api/v1/sandboxes/sbx_1/files?path=a+b.bin', ''],
    ]);
    expect(server.seen[0]?.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'idempotency-key': expect.any(String),
    });
  });
});
