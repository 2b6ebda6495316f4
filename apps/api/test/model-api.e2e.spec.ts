import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { startLeakySupplier, type LeakySupplier } from './leaky-supplier.js';
import { Stack, until } from './stack.js';

jest.setTimeout(180_000);

const SENTINEL = 'zzsupplierzz';
const SLUG = 'acme/chat';
/** The bytes in which a name can travel: as it is in any case of letters, in base64 at its three offsets, as hex. */
const TRACES = [
  /zzsupplierzz/i,
  ...[0, 1, 2].map((shift) => new RegExp(base64Core(SENTINEL, shift))),
  new RegExp(Buffer.from(SENTINEL).toString('hex'), 'i'),
];

let stack: Stack;
let supplier: LeakySupplier;
/** A viewer of the publishing tenant, and one of another. */
let viewer: string;
let stranger: { id: string; token: string; viewer: string };

beforeAll(async () => {
  supplier = await startLeakySupplier(SENTINEL);
  stack = await Stack.start({ gateway: true });
  viewer = (await made('POST', '/tokens', { name: 'viewer', scopes: ['viewer'] })).token;
  const tenant = await made('POST', '/tenants', { name: 'stranger' });
  const answer = await stack.send('POST', '/tokens', { name: 'viewer', scopes: ['viewer'] }, { token: tenant.token });
  stranger = { id: tenant.id, token: tenant.token, viewer: answer.body.token };
});
afterAll(async () => {
  await stack?.stop();
  await supplier?.stop();
});

async function made(method: string, path: string, body: object): Promise<any> {
  const answer = await stack.send(method, path, body);
  if (answer.status !== 201) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** The middle of the base64 text that is the same whatever stands around the name. */
function base64Core(text: string, shift: number): string {
  const encoded = Buffer.from('_'.repeat(shift) + text)
    .toString('base64')
    .replace(/=+$/, '');
  return encoded.slice(shift === 0 ? 0 : 4, -3);
}

const chat = (token: string, body: object = {}, headers: Record<string, string> = {}) =>
  gateway(
    token,
    '/v1/chat/completions',
    { model: SLUG, messages: [{ role: 'user', content: 'hello' }], ...body },
    headers,
  );

async function gateway(
  token: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; headers: Headers }> {
  const answer = await fetch(stack.gatewayUrl + path, {
    method: body ? 'POST' : 'GET',
    body: body && JSON.stringify(body),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
  });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

async function qualify(id: string): Promise<any> {
  const answer = await stack.send('POST', `/admin/model-api/target-bindings/${id}/qualify`, {});
  expect([answer.status, answer.body.created]).toEqual([202, true]);
  return stack.operation(answer.body.operation.id);
}

it('binds, qualifies, publishes and serves a supplier of whom no byte tells a viewer', async () => {
  const product = await made('POST', '/admin/model-api/products', {
    slug: SLUG,
    display_name: 'Acme Chat',
    context_length: 8192,
    supported_parameters: ['temperature'],
    pricing: { currency: 'EUR', input_per_mtok: 0.5, output_per_mtok: 1.5 },
  });
  const target = {
    supplier: SENTINEL,
    base_url: supplier.baseUrl,
    model: supplier.model,
    credential: supplier.credential,
  };
  const binding = await made('POST', '/admin/model-api/target-bindings', { product_id: product.id, target });
  const twin = await stack.send('POST', '/admin/model-api/target-bindings', { product_id: product.id, target });
  expect([twin.status, twin.body.error.code, twin.body.error.binding_id]).toEqual([409, 'binding_exists', binding.id]);
  expect(JSON.stringify(binding)).not.toContain(supplier.credential);
  const publication = {
    product_id: product.id,
    bindings: [{ binding_id: binding.id, weight: 100, priority: 1 }],
    audience: { visibility: 'shared', tenants: [] },
  };
  const early = await stack.send('POST', '/admin/model-api/publications', publication);
  expect([early.status, early.body.error.code, early.body.error.details[0].field]).toEqual([
    409,
    'binding_not_qualified',
    'bindings[0].binding_id',
  ]);

  supplier.setFailing(true);
  const failed = await qualify(binding.id);
  expect(failed).toMatchObject({ status: 'failed', error_code: 'dependency_outage' });
  supplier.setFailing(false);
  const passed = await qualify(binding.id);
  expect(passed).toMatchObject({ status: 'succeeded', kind: 'qualify_target_binding' });
  expect((await stack.send('GET', `/admin/model-api/target-bindings/${binding.id}`)).body).toMatchObject({
    state: 'qualified',
    qualification: { checks: [{}, {}, {}, {}] },
  });
  const rehearsed = await stack.send('POST', '/admin/model-api/publications?validate_only=true', publication);
  expect([rehearsed.status, rehearsed.body.valid]).toEqual([200, true]);
  const published = await made('POST', '/admin/model-api/publications', publication);

  await until('the gateway serves the slug', async () => (await chat(stranger.viewer)).status === 200, 10_000);
  const asked = supplier.requests();
  const told: [string, string][] = [];
  const tell = (what: string, answer: { text: string; headers: Headers }): void =>
    void told.push([what, JSON.stringify([...answer.headers]) + answer.text]);
  let passport = '';
  for (const token of [viewer, stranger.viewer]) {
    const first = await chat(token, {}, { 'x-session-id': 'a session' });
    passport = first.headers.get('x-context-passport') as string;
    tell('chat', first);
    tell('stream', await chat(token, { stream: true }));
    tell('refusal', await chat(token, { max_tokens: 0 }));
    supplier.setFailing(true);
    for (let time = 0; time < 3; time += 1) tell('outage', await chat(token, { stream: time > 0 }));
    supplier.setFailing(false);
    tell('unknown model', await chat(token, { model: 'acme/none' }));
    for (const path of ['/v1/models', `/v1/models/${SLUG}`, '/v1/nothing', '/healthz', '/readyz', '/metrics'])
      tell(`gateway ${path}`, await gateway(token, path));
    for (const path of ['/v1/embeddings', '/v1/completions'])
      tell(`gateway ${path}`, await gateway(token, path, { model: SLUG, input: 'x', prompt: 'x' }));
  }
  expect(supplier.requests()).toBeGreaterThan(asked + 8);
  await until(
    'the passport is stored',
    async () =>
      (await stack.send('GET', `/context-passports/${passport}`, undefined, { token: stranger.viewer })).status === 200,
    5_000,
  );

  const ids = [
    product.id,
    binding.id,
    published.id,
    failed.id,
    passed.id,
    passport,
    encodeURIComponent(SLUG),
    stranger.id,
  ];
  for (const token of [viewer, stranger.viewer])
    for (const [what, answer] of await everythingToRead(token, ids)) tell(what, answer);
  for (const token of [viewer, stranger.viewer]) tell('live events', await liveEvents(token, passed.id));
  for (const path of ['/openapi.json', '/docs', '/metrics', '/healthz', '/readyz'])
    tell(path, await fetchText(stack.apiUrl() + path));

  expect(
    told
      .filter(([, text]) => TRACES.some((trace) => trace.test(text)))
      .map(([what, text]) => `${what}: ${text.slice(0, 500)}`),
  ).toEqual([]);
  // The search can find: an admin does see the supplier, and a viewer did see the product.
  const [, seen] = (await everythingToRead(stack.token, [binding.id])).find(([what]) =>
    what.includes('target-bindings/'),
  ) as [string, { text: string }];
  expect(TRACES[0]!.test(seen.text)).toBe(true);
  expect(told.filter(([, text]) => text.includes(SLUG)).length).toBeGreaterThan(10);
  // Nor is the name in what later operations could show: operations, steps and events are read by viewers.
  const rows = await stack.query(
    `select (select json_agg(o) from operations o)::text || (select json_agg(s) from operation_steps s)::text || (select json_agg(e) from events e)::text as text`,
  );
  expect(TRACES.some((trace) => trace.test(rows[0].text))).toBe(false);
});

/** Every GET of the API, with each known id in each place. */
async function everythingToRead(token: string, ids: string[]): Promise<[string, { text: string; headers: Headers }][]> {
  const { body: document } = await fetch(`${stack.apiUrl()}/openapi.json`).then(async (answer) => ({
    body: (await answer.json()) as any,
  }));
  const paths = Object.entries<any>(document.paths)
    .filter(([, operations]) => operations.get)
    .map(([path]) => path);
  expect(paths.length).toBeGreaterThan(20);
  const urls = paths.flatMap((path) => (/\{/.test(path) ? ids.map((id) => path.replace(/\{\w+\}/g, id)) : [path]));
  const answers: [string, { text: string; headers: Headers }][] = [];
  for (const url of urls) answers.push([`GET ${url}`, await fetchText(stack.apiUrl() + url, token)]);
  return answers;
}

async function fetchText(url: string, token?: string): Promise<{ text: string; headers: Headers }> {
  const answer = await fetch(url, { headers: token ? { authorization: `Bearer ${token}` } : {} });
  return { text: await answer.text(), headers: answer.headers };
}

/** What an event stream sends of an operation that has ended, up to the last of its events. */
async function liveEvents(token: string, id: string): Promise<{ text: string; headers: Headers }> {
  const leave = new AbortController();
  const answer = await fetch(`${stack.apiUrl()}/api/v1/operations/${id}/events?after=0`, {
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    signal: leave.signal,
  });
  let text = '';
  if (answer.status !== 200 || !answer.body) return { text: await answer.text(), headers: answer.headers };
  for await (const chunk of answer.body) {
    text += Buffer.from(chunk as Uint8Array).toString('utf8');
    if (text.includes('"succeeded"')) break;
  }
  leave.abort();
  return { text, headers: answer.headers };
}

it('shows a catalog entry with its allow-listed fields and what was measured', async () => {
  const { data } = (await stack.send('GET', '/model-api-catalog', undefined, { token: stranger.viewer })).body;
  expect(data).toHaveLength(1);
  await until(
    'requests were measured',
    async () => {
      await chat(stranger.viewer, { stream: true });
      const { body } = await stack.send('GET', `/model-api-catalog/${data[0].id}`, undefined, {
        token: stranger.viewer,
      });
      return body.performance?.ttft_ms?.p50 > 0;
    },
    30_000,
  );
  const { body: entry } = await stack.send('GET', `/model-api-catalog/${encodeURIComponent(SLUG)}`, undefined, {
    token: stranger.viewer,
  });
  expect(entry).toEqual({
    id: data[0].id,
    object: 'model',
    slug: SLUG,
    name: 'Acme Chat',
    description: null,
    created: expect.any(Number),
    context_length: 8192,
    max_output_tokens: null,
    supported_parameters: ['temperature'],
    pricing: { currency: 'EUR', input_per_mtok: 0.5, output_per_mtok: 1.5 },
    performance: {
      ttft_ms: { p50: expect.any(Number), p95: expect.any(Number) },
      output_tokens_per_s: expect.anything(),
    },
    availability: expect.stringMatching(/^(available|degraded)$/),
    endpoint: { base_url: `${stack.gatewayUrl}/v1`, model: SLUG },
  });
});

it('keeps admin work to admins of the owning tenant, and a withdrawn product out of catalog and gateway', async () => {
  const {
    body: {
      data: [publication],
    },
  } = await stack.send('GET', '/admin/model-api/publications');
  for (const path of ['products', 'target-bindings', 'publications']) {
    expect((await stack.send('GET', `/admin/model-api/${path}`, undefined, { token: viewer })).status).toBe(403);
    expect(
      (await stack.send('GET', `/admin/model-api/${path}`, undefined, { token: stranger.token })).body.data,
    ).toEqual([]);
  }
  const asStranger = { token: stranger.token };
  const { product_id } = publication;
  const target = { supplier: 's', base_url: supplier.baseUrl, model: 'm' };
  expect(
    (await stack.send('POST', '/admin/model-api/target-bindings', { product_id, target }, asStranger)).body.error.code,
  ).toBe('product_not_found');
  expect(
    (
      await stack.send(
        'POST',
        '/admin/model-api/publications',
        { product_id, bindings: [{ binding_id: 'x' }] },
        asStranger,
      )
    ).body.error.code,
  ).toBe('product_not_found');
  expect((await stack.send('POST', `/admin/model-api/publications/${publication.id}/withdraw`, {})).body.state).toBe(
    'withdrawn',
  );
  expect(
    (await stack.send('GET', `/model-api-catalog/${product_id}`, undefined, { token: stranger.viewer })).body.error
      .code,
  ).toBe('catalog_entry_not_found');
  await until('the gateway has forgotten the slug', async () => (await chat(stranger.viewer)).status === 404, 10_000);
});

it('10.2: a tenant takes no name that is not its own, and offers nothing to others', async () => {
  const asStranger = { token: stranger.token };
  const ask = async (path: string, body: object): Promise<[number, string]> => {
    const answer = await stack.send('POST', `/admin/model-api/${path}`, body, asStranger);
    return [answer.status, answer.body.error?.code];
  };
  for (const slug of ['openai/gpt-4o', SLUG, 'strangers/chat'])
    expect(await ask('products', { slug })).toEqual([403, 'slug_not_yours']);
  const own = await stack.send('POST', '/admin/model-api/products', { slug: 'stranger/chat' }, asStranger);
  expect(own.status).toBe(201);
  const { body: operator } = await stack.send('GET', '/whoami');
  for (const audience of [{ visibility: 'shared' }, { tenants: [operator.tenant.id] }])
    for (const query of ['', '?validate_only=true'])
      expect(
        await ask(`publications${query}`, { product_id: own.body.id, bindings: [{ binding_id: 'bnd_any' }], audience }),
      ).toEqual([403, 'audience_not_yours']);
});

it('qualifies and serves a revision of the tenant, from a fresh deployment by API calls only', async () => {
  await made('POST', '/deployments', { name: 'inner' });
  const spec = { model: { id: 'inner-model' }, runtime: { target: 'local', engine: 'sim' } };
  const rollout = await stack.send('POST', '/deployments/inner/rollouts', { spec });
  await stack.operation(rollout.body.operation.id);
  const product = await made('POST', '/admin/model-api/products', { slug: 'acme/inner' });
  const binding = await made('POST', '/admin/model-api/target-bindings', {
    product_id: product.id,
    target: { deployment: 'inner', revision: '1' },
  });
  expect(binding.target).toMatchObject({ deployment: 'inner', revision: 'inner-00001' });
  expect(await qualify(binding.id)).toMatchObject({ status: 'succeeded' });
  await made('POST', '/admin/model-api/publications', {
    product_id: product.id,
    bindings: [{ binding_id: binding.id }],
    audience: { visibility: 'tenant', tenants: [stranger.id] },
  });
  await until(
    'the stranger is served',
    async () => (await chat(stranger.viewer, { model: 'acme/inner' })).status === 200,
    10_000,
  );
  const { body: entry } = await stack.send('GET', `/model-api-catalog/${product.id}`, undefined, {
    token: stranger.viewer,
  });
  expect(entry).toMatchObject({ slug: 'acme/inner', availability: 'available' });
});
