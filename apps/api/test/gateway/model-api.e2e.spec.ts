import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Slipway } from '@slipway/sdk';
import { startLeakySupplier, tracesOf, type LeakySupplier } from '../harness/leaky-supplier.js';
import { codeOf, isRefused, refusalOf } from '../harness/refusals.js';
import { Stack, until } from '../harness/stack.js';

jest.setTimeout(180_000);

const SENTINEL = 'zzsupplierzz';
const SLUG = 'acme/chat';
const TRACES = tracesOf(SENTINEL);

let stack: Stack;
let slipway: Slipway;
let supplier: LeakySupplier;
/** A viewer of the publishing tenant, and one of another tenant. */
let viewer: string;
let stranger: { id: string; viewer: string };
let asStranger: Slipway;

beforeAll(async () => {
  supplier = await startLeakySupplier(SENTINEL);
  stack = await Stack.start({ gateway: true });
  slipway = stack.slipway();
  const aViewer = { name: 'viewer', scopes: ['viewer' as const] };
  viewer = (await slipway.tokens.create(aViewer)).token!;
  const tenant = await slipway.tenants.create({ name: 'stranger' });
  asStranger = stack.as(tenant.token!);
  stranger = { id: tenant.id, viewer: (await asStranger.tokens.create(aViewer)).token! };
});
afterAll(async () => {
  await stack?.stop();
  await supplier?.stop();
});

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
  const { created, operation } = await slipway.admin.modelApi.targetBindings.qualify(id);
  expect(created).toBe(true);
  return stack.operation(operation.id);
}

it('binds, qualifies, publishes and serves a supplier of whom no byte reveals the name to a viewer', async () => {
  const { products, targetBindings, publications } = slipway.admin.modelApi;
  const product = await products.create({
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
  const binding = await targetBindings.create({ product_id: product.id, target });
  const twin = await refusalOf(targetBindings.create({ product_id: product.id, target }));
  expect(twin).toMatchObject({ status: 409, code: 'binding_exists', body: { binding_id: binding.id } });
  expect(JSON.stringify(binding)).not.toContain(supplier.credential);
  const publication = {
    product_id: product.id,
    bindings: [{ binding_id: binding.id, weight: 100, priority: 1 }],
    audience: { visibility: 'shared' as const, tenants: [] },
  };
  const early = await refusalOf(publications.create(publication));
  expect([early.status, early.code, early.details[0]?.field]).toEqual([
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
  expect(await targetBindings.get(binding.id)).toMatchObject({
    state: 'qualified',
    qualification: { checks: [{}, {}, {}, {}, {}] },
  });
  expect(await publications.rehearse(publication)).toMatchObject({ valid: true });
  const published = await publications.create(publication);

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
      !(await isRefused(stack.as(stranger.viewer).contextPassports.get(passport), 'context_passport_not_found')),
    20_000,
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
  // The control of the search: an admin sees the supplier, and a viewer sees the product.
  const [, seen] = (await everythingToRead(stack.token, [binding.id])).find(([what]) =>
    what.includes('target-bindings/'),
  ) as [string, { text: string }];
  expect(TRACES[0]!.test(seen.text)).toBe(true);
  expect(told.filter(([, text]) => text.includes(SLUG)).length).toBeGreaterThan(10);
  // The name is also absent from rows that later endpoints could show: viewers read operations, steps and events.
  const rows = await stack.query(
    `select (select json_agg(o) from operations o)::text || (select json_agg(s) from operation_steps s)::text || (select json_agg(e) from events e)::text as text`,
  );
  expect(TRACES.some((trace) => trace.test(rows[0].text))).toBe(false);
});

/**
 * Calls every GET of the API with each known id in each parameter; without the sdk,
 * because every byte of an answer is checked.
 */
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

/** Returns what an event stream sends of an ended operation, up to its last event. */
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

it('shows a catalog entry with its allow-listed fields and its measurements', async () => {
  const catalog = stack.as(stranger.viewer).modelApiCatalog;
  const { data } = await catalog.list();
  expect(data).toHaveLength(1);
  await until(
    'requests were measured',
    async () => {
      await chat(stranger.viewer, { stream: true });
      const { performance } = await catalog.get(data[0]!.id);
      return (performance?.ttft_ms?.p50 ?? 0) > 0;
    },
    30_000,
  );
  expect(await catalog.get(SLUG)).toEqual({
    id: data[0]!.id,
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
    shares_prefix_cache: true,
    endpoint: { base_url: `${stack.gatewayUrl}/v1`, model: SLUG },
  });
});

it('reserves admin work for admins of the owning tenant, and removes a withdrawn product from catalog and gateway', async () => {
  const [publication] = (await slipway.admin.modelApi.publications.list()).data;
  for (const list of ['products', 'targetBindings', 'publications'] as const) {
    expect(await codeOf(stack.as(viewer).admin.modelApi[list].list())).toBe('403 scope_insufficient');
    expect((await asStranger.admin.modelApi[list].list()).data).toEqual([]);
  }
  const { targetBindings, publications } = asStranger.admin.modelApi;
  const { id, product_id } = publication!;
  const target = { supplier: 's', base_url: supplier.baseUrl, model: 'm' };
  expect(await codeOf(targetBindings.create({ product_id, target }))).toBe('404 product_not_found');
  const bindings = [{ binding_id: 'x' }];
  expect(await codeOf(publications.create({ product_id, bindings }))).toBe('404 product_not_found');
  expect(await slipway.admin.modelApi.publications.withdraw(id)).toMatchObject({ state: 'withdrawn' });
  const entry = stack.as(stranger.viewer).modelApiCatalog.get(product_id);
  expect(await codeOf(entry)).toBe('404 catalog_entry_not_found');
  await until('the gateway has forgotten the slug', async () => (await chat(stranger.viewer)).status === 404, 10_000);
});

it('a tenant takes no name that it does not own, and offers nothing to others', async () => {
  const { products, publications } = asStranger.admin.modelApi;
  for (const slug of ['openai/gpt-4o', SLUG, 'strangers/chat'])
    expect(await codeOf(products.create({ slug }))).toBe('403 slug_not_yours');
  const { id: product_id } = await products.create({ slug: 'stranger/chat' });
  const operator = await slipway.whoAmI();
  for (const audience of [{ visibility: 'shared' as const }, { tenants: [operator.tenant.id] }])
    for (const ask of [publications.create, publications.rehearse])
      expect(await codeOf(ask({ product_id, bindings: [{ binding_id: 'bnd_any' }], audience }))).toBe(
        '403 audience_not_yours',
      );
});

it('qualifies and serves a revision of the tenant, from a fresh deployment by API calls only', async () => {
  await slipway.deployments.create({ name: 'inner' });
  const spec = { model: { id: 'inner-model' }, runtime: { target: 'local', engine: 'sim' } };
  await stack.operation(await stack.rollOut('inner', { spec }));
  const { products, targetBindings, publications } = slipway.admin.modelApi;
  const product = await products.create({ slug: 'acme/inner' });
  const binding = await targetBindings.create({
    product_id: product.id,
    target: { deployment: 'inner', revision: '1' },
  });
  expect(binding.target).toMatchObject({ deployment: 'inner', revision: 'inner-00001' });
  expect(await qualify(binding.id)).toMatchObject({ status: 'succeeded' });
  await publications.create({
    product_id: product.id,
    bindings: [{ binding_id: binding.id }],
    audience: { visibility: 'tenant', tenants: [stranger.id] },
  });
  await until(
    'the stranger is served',
    async () => (await chat(stranger.viewer, { model: 'acme/inner' })).status === 200,
    10_000,
  );
  expect(await stack.as(stranger.viewer).modelApiCatalog.get(product.id)).toMatchObject({
    slug: 'acme/inner',
    availability: 'available',
  });
});
