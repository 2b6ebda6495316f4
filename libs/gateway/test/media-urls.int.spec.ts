import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { ANY_MEDIA_URL, DATA_URLS_ONLY, type MediaUrls } from '@slipway/contracts';
import { publishMediaUrls, publishSlug, supplierContext, type PublishedBinding } from '@slipway/dataplane';
import { sealSecret } from '@slipway/platform-database';
import type { Gateway } from '../src/index.js';
import { ask, type TestAnswer } from './client.js';
import { GatewayInstallation, untilPassing, type TestToken } from './installation.js';
import { TestUpstream } from './upstream.js';

const SLUG = 'acme/vision';
const URL = 'https://images.example.com/a.png';
const DATA = 'data:image/png;base64,iVBORw0KGgo=';

let installation: GatewayInstallation;
let gateway: Gateway;
let tenant: string;
let token: TestToken;
let engine: TestUpstream;

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  tenant = await installation.tenant('acme');
  token = await installation.token(tenant);
  engine = await TestUpstream.start('one');
  await installation.revision(tenant, 'chat', 'chat-1', [engine]);
  await installation.route(tenant, 'chat', { 'chat-1': 100 });
  gateway = await installation.gateway({}, { metricsToken: 'metrics' });
});
afterAll(async () => {
  await installation.destroy();
  await engine.stop();
});
afterEach(() => {
  engine.seen.length = 0;
});

const chat = (model: string, url: string): Promise<TestAnswer> =>
  ask(gateway, token, {
    body: { model, messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] },
  });
const outcome = async (model: string, url = URL): Promise<string> => {
  const { status, body } = await chat(model, url);
  return status === 200 ? '200' : `${status} ${body.error.code} ${body.error.param}`;
};
const REFUSED = '400 media_url_refused messages[0].content[0].image_url.url';

const rule = (mediaUrls: MediaUrls): Promise<void> => publishMediaUrls(installation.db, 'dep_chat', mediaUrls);
const becomes = (expected: string, model = 'chat', url = URL): Promise<void> =>
  untilPassing(async () => expect(await outcome(model, url)).toBe(expected));
const followed = (generation: number, deployment = 'chat'): Promise<void> =>
  untilPassing(async () =>
    expect(
      await installation.sql('select 1 from dataplane_followed_routes where deployment_id = $1 and generation = $2', [
        `dep_${deployment}`,
        generation,
      ]),
    ).toHaveLength(1),
  );
const binding = { binding_id: 'bnd_1', weight: 1, priority: 0 };
const toRevision: PublishedBinding = {
  ...binding,
  upstream: { kind: 'revision', deployment_id: 'dep_chat', revision_id: 'rev_chat-1' },
};
const slug = (bindings: PublishedBinding[], mediaUrls?: MediaUrls): Promise<boolean> =>
  publishSlug(installation.db, {
    ...{ slug: SLUG, tenantId: tenant, productId: 'prd_1', bindings, mediaUrls },
    audience: { visibility: 'tenant', tenants: [] },
  });

it('a deployment accepts any URL until it has a rule; the rule survives new generations of its route', async () => {
  expect(await outcome('chat')).toBe('200');
  await rule(DATA_URLS_ONLY);
  await becomes(REFUSED);
  engine.seen.length = 0;
  expect([await outcome('chat'), await outcome('chat', DATA)]).toEqual([REFUSED, '200']);
  expect(engine.seen).toHaveLength(1);
  await followed(await installation.route(tenant, 'chat', { 'chat-1': 100 }));
  expect(await outcome('chat')).toBe(REFUSED);
  await rule({ allow: 'hosts', hosts: ['images.example.com'] });
  await becomes('200');
  expect(await outcome('chat', 'https://images.example.com@evil.example/')).toBe(REFUSED);
  await rule(ANY_MEDIA_URL);
  await becomes('200', 'chat', 'https://evil.example/');
});

it('a slug accepts data URLs only, unless its publication allows more', async () => {
  await slug([toRevision]);
  await becomes('200', SLUG, DATA);
  expect(await outcome(SLUG)).toBe(REFUSED);
  await slug([toRevision], { allow: 'hosts', hosts: ['images.example.com'] });
  await becomes('200', SLUG);
  expect(await outcome(SLUG, 'https://evil.example/')).toBe(REFUSED);
  await slug([toRevision], ANY_MEDIA_URL);
  await becomes('200', SLUG, 'https://evil.example/');
  // The deployment that the binding leads to keeps its own rule.
  await rule(DATA_URLS_ONLY);
  await becomes(REFUSED, SLUG);
  const credential = sealSecret(installation.keyRing, 'sk', supplierContext(tenant, 'bnd_1'));
  const guard = { allow: [engine.url] };
  await slug([{ ...binding, upstream: { kind: 'supplier', base_url: engine.url, model: 'm', credential, guard } }]);
  await becomes('200', SLUG, DATA);
  expect(await outcome(SLUG)).toBe(REFUSED);
  await rule(ANY_MEDIA_URL);
});

it('is checked before a request waits, and again after it has waited', async () => {
  const held = async (): Promise<number> => {
    const { text } = await ask(gateway, 'metrics', { path: '/metrics', method: 'GET' });
    return Number(/^slipway_gateway_held_requests (\d+)$/m.exec(text)![1]);
  };
  await becomes('200');
  const hold = { max_seconds: 60, estimated_seconds: 1 };
  await followed(await installation.route(tenant, 'chat', { 'chat-1': 100 }, undefined, hold));
  const answer = outcome('chat');
  await untilPassing(async () => expect(await held()).toBe(1));
  engine.seen.length = 0;
  await rule(DATA_URLS_ONLY);
  // The gateway reads changes in their order.
  await followed(await installation.route(tenant, 'other', { 'chat-1': 100 }), 'other');
  expect(await outcome('chat')).toBe(REFUSED);
  expect(await held()).toBe(1);
  await installation.route(tenant, 'chat', { 'chat-1': 100 });
  expect(await answer).toBe(REFUSED);
  expect(engine.seen).toEqual([]);
});

it('a long body is read in several runs, and another request is served meanwhile', async () => {
  await becomes(REFUSED);
  const many = Array.from({ length: 40_000 }, () => ({ type: 'text', text: 'https://a.example/ "x"' }));
  const send = (last: object): Promise<TestAnswer> =>
    ask(gateway, token, { body: { model: 'chat', messages: [{ role: 'user', content: [...many, last] }] } });
  const [refused, accepted] = await Promise.all([
    send({ type: 'image_url', image_url: { url: URL } }),
    send({ type: 'image_url', image_url: { url: DATA } }),
  ]);
  expect([refused.body.error.param, accepted.status]).toEqual(['messages[0].content[40000].image_url.url', 200]);
});
