import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  findPassport,
  publishSlug,
  readVersions,
  statsBetween,
  statsCompleteUntil,
  withdrawSlug,
  type PublishedBinding,
  type SupplierUpstream,
  supplierContext,
} from '@slipway/dataplane';
import { sealSecret } from '@slipway/platform-database';
import type { Gateway } from '../src/index.js';
import { ask, type TestAnswer } from './client.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { respondJson, TestUpstream } from './upstream.js';

const SENTINEL = 'zz-supplier-sentinel-zz';
const SLUG = 'acme/chat';

let installation: GatewayInstallation;
let gateway: Gateway;
let publisher: string;
let token: TestToken;
let supplier: TestUpstream;
let reserve: TestUpstream;

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  publisher = await installation.tenant('publisher');
  token = await installation.token(await installation.tenant('reader'));
  supplier = await TestUpstream.start(SENTINEL);
  reserve = await TestUpstream.start('reserve');
  gateway = await installation.gateway();
});
afterAll(async () => {
  await installation.destroy();
  await Promise.all([supplier.stop(), reserve.stop()]);
});
beforeEach(() => {
  for (const upstream of [supplier, reserve]) {
    upstream.behaviour = (request, response) => upstream.answer(request, response);
    upstream.seen.length = 0;
  }
});

function bindingTo(upstream: TestUpstream, id: string, rest: Partial<PublishedBinding> = {}): PublishedBinding {
  const to: SupplierUpstream = {
    kind: 'supplier',
    base_url: `${upstream.url}/openai/v1`,
    model: `${SENTINEL}-model`,
    credential: sealSecret(installation.keyRing, `sk-${SENTINEL}`, supplierContext(publisher, id)),
    guard: { allow: ['http://127.0.0.1:*'] },
  };
  return { binding_id: id, weight: 1, priority: 0, upstream: to, ...rest };
}

async function publish(
  bindings: PublishedBinding[],
  audience: { visibility: 'tenant' | 'shared'; tenants: string[] } = { visibility: 'shared', tenants: [] },
): Promise<void> {
  await publishSlug(installation.db, { slug: SLUG, tenantId: publisher, productId: 'prd_1', bindings, audience });
  const written = (await readVersions(installation.db)).find(({ kind, id }) => kind === 'slug' && id === SLUG);
  const { snapshot } = gateway as unknown as { snapshot: { slugs: Map<string, { version: number }> } };
  await untilPassing(() => expect(snapshot.slugs.get(SLUG)?.version).toBe(written?.version));
}

const chat = (more: Record<string, unknown> = {}, headers: Record<string, string> = {}): Promise<TestAnswer> =>
  ask(gateway, token, { body: { model: SLUG, messages: [], ...more }, headers });
const everything = (answer: TestAnswer): string => JSON.stringify([...answer.headers]) + answer.text;

it('rebuilds answers and streams so that no byte reveals the supplier, and hides the client from its server', async () => {
  await publish([bindingTo(supplier, 'bnd_1')]);
  supplier.behaviour = (request, response) => {
    response.setHeader('x-powered-by', SENTINEL);
    response.setHeader('set-cookie', `a=${SENTINEL}`);
    if (request.body['stream'] === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`: ${SENTINEL} processing\n\nevent: ${SENTINEL}\nid: ${SENTINEL}\n`);
      response.write(
        `data: {"id":"${SENTINEL}","provider":"${SENTINEL}","model":"${SENTINEL}","created":5,"object":"x","choices":[{"index":0,"delta":{"role":"assistant","content":"hé","${SENTINEL}":1,`,
      );
      response.write(
        `"tool_calls":[{"index":0,"id":"${SENTINEL}","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":null}]}\n\n`,
      );
      response.write(
        `data: {"choices":[{"index":0,"delta":{},"finish_reason":"${SENTINEL}","native_finish_reason":"${SENTINEL}"}],"usage":{"prompt_tokens":2,"completion_tokens":1,"total_tokens":3,"cost_of":"${SENTINEL}"}}\n\n`,
      );
      response.end('data: [DONE]\n\n');
      return;
    }
    respondJson(response, 200, {
      id: SENTINEL,
      provider: SENTINEL,
      model: SENTINEL,
      created: 5,
      system_fingerprint: `fp_${SENTINEL}`,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'fine', [SENTINEL]: 1 },
          finish_reason: 'stop',
          logprobs: null,
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, [SENTINEL]: 3 },
    });
  };
  const whole = await chat(
    { session_id: 'raw session' },
    {
      'user-agent': 'OpenAI/JS',
      'x-stainless-os': 'Linux',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    },
  );
  expect(whole.body).toEqual({
    id: expect.stringMatching(/^chatcmpl-[0-9a-f]{24}$/),
    object: 'chat.completion',
    created: 5,
    model: SLUG,
    system_fingerprint: expect.stringMatching(/^fp_[0-9a-f]{10}$/),
    choices: [{ index: 0, message: { role: 'assistant', content: 'fine' }, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
  const stream = await chat({ stream: true });
  const events = stream.text.split('\n\n').filter(Boolean);
  expect(events.at(-1)).toBe('data: [DONE]');
  // The comment that keeps the connection alive passes, without its text.
  expect(events[0]).toBe(':');
  const chunks = events.slice(1, -1).map((event) => JSON.parse(event.slice('data: '.length)));
  expect(chunks[0]).toMatchObject({
    object: 'chat.completion.chunk',
    model: SLUG,
    choices: [
      {
        delta: {
          role: 'assistant',
          content: 'hé',
          tool_calls: [
            {
              index: 0,
              id: expect.stringMatching(/^[A-Za-z0-9]{9}$/),
              type: 'function',
              function: { name: 'f', arguments: '{}' },
            },
          ],
        },
      },
    ],
  });
  expect(chunks[1]).toMatchObject({
    choices: [{ delta: {}, finish_reason: null }],
    usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
  });
  for (const answer of [whole, stream]) {
    expect(everything(answer)).not.toContain(SENTINEL);
    expect(answer.headers.get('x-slipway-revision')).toBeNull();
  }
  const [request] = supplier.seen;
  expect(request?.path).toBe('/openai/v1/chat/completions');
  expect(request?.body).toEqual({ model: `${SENTINEL}-model`, messages: [] });
  expect(Object.keys(request?.headers ?? {}).sort()).toEqual([
    'accept',
    'accept-encoding',
    'authorization',
    'connection',
    'content-length',
    'content-type',
    'host',
    'user-agent',
  ]);
  expect(request?.headers.authorization).toBe(`Bearer sk-${SENTINEL}`);
  const row = await untilPassing(async () => {
    const found = await findPassport(
      installation.db,
      token.tenantId,
      whole.headers.get('x-context-passport') as string,
    );
    expect(found).toBeDefined();
    return found;
  });
  expect(row).toMatchObject({ deployment_name: SLUG, revision_id: null, revision_name: null, instance_id: null });
});

it('replaces a supplier’s errors, in whatever form they arrive', async () => {
  await publish([bindingTo(supplier, 'bnd_1')]);
  const failing: [number, unknown, number, string | null, string | null][] = [
    [
      400,
      { error: { message: `${SENTINEL} says no`, param: 'messages', code: 'context_length_exceeded' } },
      400,
      'context_length_exceeded',
      'messages',
    ],
    [400, { error: { message: SENTINEL, param: SENTINEL, code: SENTINEL } }, 400, null, null],
    [401, { error: { message: `bad key of ${SENTINEL}` } }, 502, 'upstream_credential_refused', null],
    [404, SENTINEL, 502, 'upstream_error', null],
    [302, SENTINEL, 502, 'upstream_redirect', null],
    [429, { error: { message: SENTINEL } }, 429, 'quota_exceeded', null],
    [500, SENTINEL, 502, 'upstream_error', null],
    [200, { error: { message: SENTINEL } }, 502, 'upstream_error', null],
    [200, SENTINEL, 502, 'upstream_error', null],
  ];
  for (const [status, body, expected, code, param] of failing) {
    supplier.behaviour = (_request, response) =>
      respondJson(response, status, body, {
        location: `https://${SENTINEL}.example`,
        'retry-after': '9',
        server: SENTINEL,
      });
    const answer = await chat();
    expect({ status: answer.status, code: answer.body.error.code, param: answer.body.error.param }).toEqual({
      status: expected,
      code,
      param,
    });
    expect(everything(answer)).not.toContain(SENTINEL);
    // It requested a wait.
    if (status === 429) await publish([bindingTo(supplier, 'bnd_1')]);
  }
  const streams: [stream: string, status: number, code: string][] = [
    [`data: {"error":{"message":"${SENTINEL}"}}\n\ndata: ${SENTINEL}\n\n`, 502, 'upstream_error'],
    [`data: {"error":{"message":"${SENTINEL}","code":"context_length_exceeded"}}\n\n`, 400, 'context_length_exceeded'],
    [`error: {"message":"${SENTINEL}","code":429}\n\n`, 429, 'quota_exceeded'],
    [`: ${SENTINEL}\n\ndata: {"error":"${SENTINEL}"}\n\n`, 200, 'upstream_error'],
    [`data: {"choices":[]}\n\ndata: ${SENTINEL}\n\n`, 200, 'upstream_error'],
    [`data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n`, 200, 'upstream_error'],
  ];
  for (const [text, status, code] of streams) {
    supplier.behaviour = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(text);
    };
    const stream = await chat({ stream: true });
    expect([text, stream.status, stream.text.includes(`"${code}"`)]).toEqual([text, status, true]);
    expect(stream.text).not.toContain('[DONE]');
    expect(everything(stream)).not.toContain(SENTINEL);
  }
  supplier.behaviour = (_request, response) =>
    respondJson(response, 400, {
      error: { type: 'exceed_context_size_error', message: SENTINEL, n_prompt_tokens: 5000, n_ctx: 4096 },
    });
  expect((await chat()).body.error.message).toBe(
    'The request is longer than the model’s context of 4096 tokens: it has 5000 tokens.',
  );
  supplier.behaviour = (_request, response) =>
    respondJson(response, 408, { error: SENTINEL }, { 'retry-after': '9', 'retry-after-ms': '8500' });
  const busy = await chat();
  expect([busy.status, busy.headers.get('retry-after'), busy.headers.get('retry-after-ms')]).toEqual([
    408,
    '9',
    '8500',
  ]);
  supplier.behaviour = (_request, response) => void response.socket?.destroy();
  const gone = await chat();
  expect({ status: gone.status, isTold: everything(gone).includes(SENTINEL) }).toEqual({ status: 503, isTold: false });
});

it('a time to wait that is not a time reaches no client, and a date becomes seconds', async () => {
  for (const [given, shown] of [
    ['Wed, zz supplier sentinel zz', '1'],
    ['Wed, 01 Jan 2031 00:00:00 GMT (zz-supplier-sentinel-zz)', '1'],
    ['Wed, 01 Jan 2031 00:00:00 GMT', '60'],
    ['Sun, 06 Nov 1994 08:49:37 GMT', '0'],
    ['9', '9'],
    ['-9', '1'],
    ['9999999999', '60'],
  ] as const) {
    // A publication ends the wait.
    await publish([bindingTo(supplier, 'bnd_1')]);
    supplier.behaviour = (_request, response) => respondJson(response, 429, {}, { 'retry-after': given });
    const answer = await chat();
    expect([given, answer.status, answer.headers.get('retry-after')]).toEqual([given, 429, shown]);
  }
});

it.each([
  [429, () => '30'],
  [503, () => '30'],
  [429, () => new Date(Date.now() + 30_000).toUTCString()],
  [503, () => '999999999999'],
])('a supplier that answers %i and requests a wait gets no requests meanwhile', async (status, header) => {
  const bindings = [bindingTo(supplier, 'bnd_slow'), bindingTo(reserve, 'bnd_reserve', { priority: 1 })];
  await publish(bindings);
  supplier.behaviour = (_request, response) => respondJson(response, status, {}, { 'retry-after': header() });
  const refused = await chat();
  expect([refused.status, refused.body.error.code]).toEqual([status, status === 429 ? 'quota_exceeded' : 'overloaded']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(20);
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  for (let n = 0; n < 5; n += 1) expect((await chat()).status).toBe(200);
  expect([supplier.seen.length, reserve.seen.length]).toEqual([1, 5]);
});

it('a supplier that requests no wait, or none that is valid, gets the next request', async () => {
  for (const header of [undefined, 'soon', '-30', '0']) {
    const headers: Record<string, string> = header === undefined ? {} : { 'retry-after': header };
    await publish([bindingTo(supplier, 'bnd_slow'), bindingTo(reserve, 'bnd_reserve', { priority: 1 })]);
    supplier.seen.length = 0;
    supplier.behaviour = (_request, response) => respondJson(response, 429, {}, headers);
    for (let n = 0; n < 2; n += 1) expect((await chat()).status).toBe(429);
    expect([headers, supplier.seen.length]).toEqual([headers, 2]);
  }
});

it('while all suppliers request a wait, the gateway answers for them, and the request of one client stops the others only briefly', async () => {
  await publish([bindingTo(supplier, 'bnd_slow')]);
  supplier.behaviour = (_request, response) => respondJson(response, 429, {}, { 'retry-after': '1' });
  expect((await chat()).headers.get('retry-after')).toBe('1');
  const meanwhile = await chat();
  expect([meanwhile.status, meanwhile.body.error.code, meanwhile.headers.get('retry-after')]).toEqual([
    429,
    'quota_exceeded',
    '1',
  ]);
  expect(supplier.seen).toHaveLength(1);
  supplier.behaviour = (request, response) => supplier.answer(request, response);
  await untilPassing(async () => expect((await chat()).status).toBe(200));
  supplier.behaviour = (_request, response) => respondJson(response, 429, {}, { 'retry-after': '3600' });
  expect((await chat()).headers.get('retry-after')).toBe('60');
  expect(Number((await chat()).headers.get('retry-after'))).toBeLessThanOrEqual(10);
});

it('serves embeddings and text completions from the allow-list too', async () => {
  await publish([bindingTo(supplier, 'bnd_2')]);
  const embeddings = await ask(gateway, token, { path: '/v1/embeddings', body: { model: SLUG, input: 'x' } });
  expect(embeddings.body).toEqual({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.5, -1] }],
    model: SLUG,
    usage: { prompt_tokens: 3, total_tokens: 3 },
  });
  supplier.behaviour = (_request, response) =>
    respondJson(response, 200, {
      id: SENTINEL,
      choices: [{ index: 0, text: 'hi', finish_reason: 'length', x: SENTINEL }],
    });
  const text = await ask(gateway, token, { path: '/v1/completions', body: { model: SLUG, prompt: 'x' } });
  expect(text.body).toMatchObject({
    object: 'text_completion',
    model: SLUG,
    choices: [{ index: 0, text: 'hi', logprobs: null, finish_reason: 'length' }],
  });
  expect(everything(text)).not.toContain(SENTINEL);
});

it('prefers the best priority that works, draws by weight, and respects limits', async () => {
  await publish([bindingTo(supplier, 'bnd_a', { priority: 0 }), bindingTo(reserve, 'bnd_b', { priority: 1 })]);
  for (let round = 0; round < 5; round += 1) await chat();
  expect([supplier.seen.length, reserve.seen.length]).toEqual([5, 0]);

  supplier.behaviour = (_request, response) => respondJson(response, 500, {});
  for (let round = 0; round < 5; round += 1) await chat();
  // Five failures in a row: the supplier is ejected, and the reserve serves.
  const spared = await chat();
  expect(spared.status).toBe(200);
  expect(reserve.seen.length).toBe(1);
  supplier.behaviour = (request, response) => supplier.answer(request, response);

  await publish([bindingTo(supplier, 'bnd_c', { weight: 3 }), bindingTo(reserve, 'bnd_d', { weight: 1 })]);
  supplier.seen.length = reserve.seen.length = 0;
  await Promise.all(Array.from({ length: 400 }, () => chat()));
  expect(supplier.seen.length).toBeGreaterThan(250);
  expect(supplier.seen.length).toBeLessThan(350);

  await publish([bindingTo(supplier, 'bnd_e', { limits: { max_concurrency: 4, max_rps: null } })]);
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  supplier.seen.length = 0;
  supplier.behaviour = async (request, response) => {
    await gate;
    supplier.answer(request, response);
  };
  const held = [chat(), chat()];
  await untilPassing(() => expect(supplier.seen).toHaveLength(2));
  const over = await chat();
  expect({ status: over.status, code: over.body.error.code }).toEqual({ status: 429, code: 'quota_exceeded' });
  release();
  expect((await Promise.all(held)).map((answer) => answer.status)).toEqual([200, 200]);
  // An ended request frees capacity again, even if it never reached the supplier.
  for (let round = 0; round < 5; round += 1) expect((await chat()).status).toBe(200);
});

it('gives a session of a product one binding, and reveals its destination to no client', async () => {
  await publish([bindingTo(supplier, 'bnd_s'), bindingTo(reserve, 'bnd_r')]);
  const drawn = new Set<string>();
  for (let session = 0; session < 12; session += 1) {
    const seen: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      supplier.seen.length = reserve.seen.length = 0;
      expect((await chat({ user: `user ${session}` })).status).toBe(200);
      seen.push(supplier.seen.length > 0 ? 'supplier' : 'reserve');
    }
    expect([session, new Set(seen).size]).toEqual([session, 1]);
    drawn.add(seen[0] as string);
  }
  expect(drawn.size).toBe(2);
  // Each is counted once, under its binding.
  const counted = async (id: string): Promise<number> =>
    (await statsBetween(installation.db, id, new Date(Date.now() - 600_000), new Date(Date.now() + 60_000))).counts.ok;
  const now = Date.now();
  await untilPassing(async () =>
    expect(((await statsCompleteUntil(installation.db)) ?? new Date(0)).getTime()).toBeGreaterThan(now),
  );
  expect((await counted('bnd_s')) + (await counted('bnd_r'))).toBe(36);
});

it('leads to the revision that a binding names, and otherwise follows the deployment’s route', async () => {
  await installation.revision(publisher, 'pair', 'pair-00001', [supplier]);
  await installation.revision(publisher, 'pair', 'pair-00002', [reserve]);
  await installation.route(publisher, 'pair', { 'pair-00001': 0, 'pair-00002': 100 });
  const to = (revisionId: string | null): PublishedBinding => ({
    binding_id: `bnd_${revisionId}`,
    weight: 1,
    priority: 0,
    upstream: { kind: 'revision', deployment_id: 'dep_pair', revision_id: revisionId },
  });
  for (const [revisionId, expected] of [
    [null, 'answer of reserve'],
    ['rev_pair-00001', `answer of ${SENTINEL}`],
    ['rev_pair-00002', 'answer of reserve'],
  ] as const) {
    await publish([to(revisionId)]);
    await untilPassing(async () => expect((await chat()).body.choices?.[0].message.content).toBe(expected));
  }
  // A named revision that no instance serves is not replaced with another one.
  await publish([to('rev_pair-00003')]);
  expect((await chat()).status).toBe(503);
});

it('shows a slug to its audience only, and leads to a revision without naming it', async () => {
  const revision: PublishedBinding = {
    binding_id: 'bnd_rev',
    weight: 1,
    priority: 0,
    upstream: { kind: 'revision', deployment_id: 'dep_own', revision_id: null },
  };
  await installation.revision(publisher, 'own', 'own-00001', [reserve]);
  await installation.route(publisher, 'own', { 'own-00001': 100 });
  await publish([revision], { visibility: 'tenant', tenants: [token.tenantId] });
  const answer = await untilPassing(async () => {
    const served = await chat();
    expect(served.status).toBe(200);
    return served;
  });
  expect(answer.headers.get('x-slipway-revision')).toBeNull();
  expect(everything(answer)).not.toContain('own-00001');
  expect(
    (await ask(gateway, token, { path: `/v1/models/${encodeURIComponent(SLUG)}`, method: 'GET' })).body,
  ).toMatchObject({ id: SLUG, owned_by: 'slipway' });
  expect((await ask(gateway, token, { path: `/v1/models/${SLUG}`, method: 'GET' })).status).toBe(200);
  await untilPassing(async () => {
    const stats = await statsBetween(
      installation.db,
      'bnd_rev',
      new Date(Date.now() - 60_000),
      new Date(Date.now() + 60_000),
    );
    expect(stats.counts.ok).toBeGreaterThan(0);
  });

  const stranger = await installation.token(await installation.tenant('stranger'));
  expect((await ask(gateway, stranger, { body: { model: SLUG } })).status).toBe(404);
  expect((await ask(gateway, stranger, { path: '/v1/models', method: 'GET' })).body.data).toEqual([]);
  await withdrawSlug(installation.db, SLUG);
  await untilPassing(async () => expect((await chat()).status).toBe(404));
});
