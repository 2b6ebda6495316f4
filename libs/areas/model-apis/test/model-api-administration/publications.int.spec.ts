import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openSecret } from '@slipway/platform-database';
import type { Config } from '@slipway/platform-config';
import { testConfig } from '@slipway/platform-durable/operations/testing';
import pg from 'pg';
import type { QueryRunner } from 'typeorm';
import { OwnAudiences1700000001004 } from '../../src/model-api-administration/migrations/1700000001004-own-audiences.js';
import { CatalogService } from '../../src/catalog/catalog.service.js';
import { ProductMeasurements } from '../../src/catalog/product-measurements.js';
import { ADMIN, Administration, IGNORING, OTHER, SupplierServer } from './administration.js';

let area: Administration;
let simulator: SupplierServer;

beforeAll(async () => {
  simulator = await SupplierServer.start();
  area = await Administration.start();
});
afterAll(async () => {
  await area?.stop();
  await simulator?.stop();
});

const rows = (sql: string, values: unknown[]): Promise<any[]> => area.harness.database.read('system', sql, values);
const served = async (slug: string): Promise<any> =>
  (await rows('select * from dataplane_published where slug = $1', [slug]))[0];
const one = (id: string) => ({ binding_id: id, weight: 1, priority: 0 });

async function qualified(productId: string, more: object = {}, who = ADMIN): Promise<any> {
  const binding = await area.supplierBinding(productId, simulator.url, more, who);
  expect((await area.qualify(binding.id, who))['status']).toBe('succeeded');
  return binding;
}

async function publish(productId: string, bindings: object[], more: object = {}, who = ADMIN): Promise<any> {
  return (await area.publications.create(who, { product_id: productId, bindings, ...more } as any, false)).body;
}

it('a target is bound once, even by twenty concurrent requests, and never changes', async () => {
  const { id: productId } = await area.product();
  const made = await Promise.allSettled(
    Array.from({ length: 20 }, () => area.supplierBinding(productId, simulator.url)),
  );
  const winners = made.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  expect(winners).toHaveLength(1);
  for (const result of made)
    if (result.status === 'rejected')
      expect(result.reason).toMatchObject({
        code: 'binding_exists',
        status: 409,
        extra: { binding_id: winners[0].id },
      });
  await area.supplierBinding(productId, simulator.url, { credential: 'sk-rotated' });
  await area.supplierBinding((await area.product()).id, simulator.url);
  await expect(
    area.harness.database.tx('system', (tx) =>
      tx.query(`update model_api_target_bindings set target = '{}' where id = $1`, [winners[0].id]),
    ),
  ).rejects.toThrow('never changes');
  const [{ credential }] = await rows('select credential from model_api_target_bindings where id = $1', [
    winners[0].id,
  ]);
  expect(credential).not.toContain('sk-');
});

it('a binding takes exactly one form of a target, within the allow list', async () => {
  const { id: product_id } = await area.product();
  const refused: [object, string[]][] = [
    [{}, ['target']],
    [{ deployment: 'a', revision: '1', supplier: 's' }, ['target']],
    [{ deployment: 'a' }, ['target.revision']],
    [{ supplier: 's' }, ['target.base_url', 'target.model']],
    [{ supplier: 's', model: 'm', base_url: 'http://10.0.0.1/v1' }, ['target.base_url']],
    [{ supplier: 's', model: 'm', base_url: 'http://u:p@127.0.0.1:1' }, ['target.base_url']],
    [{ supplier: 's', model: 'm', base_url: 'http://127.0.0.1:1/v1?a=b' }, ['target.base_url']],
  ];
  for (const [target, fields] of refused) {
    const refusal: any = await area.bindings.create(ADMIN, { product_id, target }).catch((error) => error);
    expect([refusal.code, refusal.details.map((issue: any) => issue.field)]).toEqual(['validation_failed', fields]);
  }
  await expect(
    area.bindings.create(OTHER, { product_id, target: { supplier: 's', model: 'm', base_url: simulator.url } }),
  ).rejects.toMatchObject({ code: 'product_not_found' });
});

it('a publication has credentials that the gateway can open, and is swapped as a whole', async () => {
  const product = await area.product();
  const [first, second] = [await qualified(product.id), await qualified(product.id, { credential: 'sk-second' })];
  const published = await publish(product.id, [one(first.id)], { audience: { visibility: 'shared', tenants: [] } });
  expect(published).toMatchObject({
    version: 1,
    state: 'published',
    slug: product.slug,
    audience: { visibility: 'shared' },
  });
  const row = await served(product.slug);
  expect(row.bindings).toMatchObject([
    {
      binding_id: first.id,
      weight: 1,
      priority: 0,
      upstream: { kind: 'supplier', base_url: simulator.url, model: 'sim', guard: { allow: ['http://127.0.0.1:*'] } },
    },
  ]);
  const context = `supplier/${row.tenant_id}/${first.id}`;
  expect(openSecret(testConfig('postgres://x').keyRing, row.bindings[0].upstream.credential, context)).toBe(
    'sk-zz-sentinel',
  );
  expect((await area.products.list(ADMIN, {}, { limit: 1 })).data[0]?.state).toBe('active');

  const next = await publish(product.id, [
    { binding_id: second.id, weight: 3, priority: 0 },
    { binding_id: first.id, weight: 0, priority: 0 },
  ]);
  expect(next).toMatchObject({ version: 2, audience: { visibility: 'tenant', tenants: [] } });
  expect((await served(product.slug)).bindings.map((binding: any) => binding.binding_id)).toEqual([second.id]);
  const { data } = await area.publications.list(ADMIN, {}, { limit: 10 });
  expect(data.slice(0, 2).map(({ version, state }) => [version, state])).toEqual([
    [2, 'published'],
    [1, 'superseded'],
  ]);
  await expect(area.publications.withdraw(ADMIN, published.id)).rejects.toMatchObject({
    code: 'publication_superseded',
  });
  await expect(area.publications.withdraw(OTHER, next.id)).rejects.toMatchObject({ code: 'publication_not_found' });
  expect(await area.publications.withdraw(ADMIN, next.id)).toMatchObject({
    state: 'withdrawn',
    ended_at: expect.any(String),
  });
  expect(await area.publications.withdraw(ADMIN, next.id)).toMatchObject({ state: 'withdrawn' });
  expect(await served(product.slug)).toBeUndefined();
});

it('concurrent publications get versions of their own, and one is current', async () => {
  const product = await area.product();
  const binding = await qualified(product.id);
  const made = await Promise.all(Array.from({ length: 8 }, () => publish(product.id, [one(binding.id)])));
  expect(made.map(({ version }) => version).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  const states = await rows(
    'select version, state from model_api_publications where product_id = $1 order by version',
    [product.id],
  );
  expect(states.map(({ state }) => state)).toEqual([...Array(7).fill('superseded'), 'published']);
  expect(Number((await served(product.slug)).version)).toBe(8);
});

it('a sleeping revision can be published: the first request wakes it', async () => {
  const product = await area.product();
  await area.revision('rev_sleeper', simulator.url);
  const { body: binding }: any = await area.bindings.create(ADMIN, {
    product_id: product.id,
    target: { deployment: 'dep', revision: 'rev_sleeper' },
  });
  await area.qualify(binding.id);
  area.ready.set('rev_sleeper', 0);
  await expect(publish(product.id, [one(binding.id)])).rejects.toMatchObject({ code: 'binding_not_qualified' });
  area.asleep.add('rev_sleeper');
  await publish(product.id, [one(binding.id)]);
  expect([...area.holds.get('rev_sleeper')!]).toContain(`binding:${binding.id}`);
});

it('a refusal lists every binding that cannot serve, and writes nothing', async () => {
  const product = await area.product();
  const good = await qualified(product.id);
  const unqualified = await area.supplierBinding(product.id, simulator.url, { credential: 'sk-2' });
  const foreign = await qualified((await area.product()).id);
  await area.revision('rev_9', simulator.url);
  const { body: cold } = await area.bindings.create(ADMIN, {
    product_id: product.id,
    target: { deployment: 'dep', revision: 'rev_9' },
  });
  await area.qualify(cold.id);
  area.ready.set('rev_9', 0);
  const refusal: any = await publish(
    product.id,
    [good, unqualified, foreign, { id: 'bnd_none' }, cold].map(({ id }) => one(id)),
  ).catch((error) => error);
  expect([refusal.code, refusal.details.map(({ field, code }: any) => [field, code])]).toEqual([
    'binding_not_qualified',
    [
      ['bindings[1].binding_id', 'not_qualified'],
      ['bindings[2].binding_id', 'other_product'],
      ['bindings[3].binding_id', 'unknown'],
      ['bindings[4].binding_id', 'not_ready'],
    ],
  ]);
  const broken: any = await publish(
    product.id,
    [
      { ...one(good.id), weight: 0 },
      { ...one(good.id), weight: 0 },
    ],
    { audience: { visibility: 'shared', tenants: ['ten_2'] } },
  ).catch((error) => error);
  expect(broken.details.map(({ field }: any) => field)).toEqual([
    'bindings[1].binding_id',
    'bindings',
    'audience.tenants',
  ]);
  const rehearsed = await area.publications.create(ADMIN, { product_id: product.id, bindings: [one(good.id)] }, true);
  expect(rehearsed).toMatchObject({
    status: 200,
    body: { valid: true, would: `publish version 1 of ${product.slug}` },
  });
  expect(await served(product.slug)).toBeUndefined();
  expect(await rows('select 1 from model_api_publications where product_id = $1', [product.id])).toEqual([]);
});

it('a published revision stays up, and is released with the publication', async () => {
  const product = await area.product();
  await area.revision('rev_5', simulator.url);
  const { body: binding } = await area.bindings.create(ADMIN, {
    product_id: product.id,
    target: { deployment: 'dep', revision: 'rev_5' },
  });
  await area.qualify(binding.id);
  const published = await publish(product.id, [one(binding.id)]);
  expect((await served(product.slug)).bindings[0].upstream).toEqual({
    kind: 'revision',
    deployment_id: 'dep_1',
    revision_id: 'rev_5',
  });
  expect([...area.holds.get('rev_5')!]).toEqual([`binding:${binding.id}`]);
  expect(area.holdEnds.get(`rev_5 binding:${binding.id}`)).toBeUndefined();
  // Qualifying a published binding must not end its hold.
  expect((await area.qualify(binding.id))['status']).toBe('succeeded');
  expect([...area.holds.get('rev_5')!]).toEqual([`binding:${binding.id}`]);
  expect(area.holdEnds.get(`rev_5 binding:${binding.id}`)).toBeUndefined();
  await area.publications.withdraw(ADMIN, published.id);
  expect([...area.holds.get('rev_5')!]).toEqual([]);
});

it('a slug accepts only data URLs of media, unless its publication allows more, and each publication decides anew', async () => {
  const product = await area.product();
  const binding = await qualified(product.id);
  const urls = async (): Promise<unknown> => (await served(product.slug)).media_urls;
  const dataOnly = { allow: 'data_only', hosts: [] };
  expect((await publish(product.id, [one(binding.id)])).media_urls).toEqual(dataOnly);
  expect(await urls()).toEqual(dataOnly);
  const media_urls = { allow: 'hosts', hosts: ['images.example.com'] };
  expect((await publish(product.id, [one(binding.id)], { media_urls })).media_urls).toEqual(media_urls);
  expect(await urls()).toEqual(media_urls);
  await publish(product.id, [one(binding.id)]);
  expect(await urls()).toEqual(dataOnly);
  // A publication of the previous release has no rule.
  await area.harness.database.tx('system', (tx) =>
    tx.query('update model_api_publications set media_urls = null where product_id = $1', [product.id]),
  );
  const { data } = await area.publications.list(ADMIN, {}, { limit: 1 });
  expect(data[0]?.media_urls).toEqual(dataOnly);
});

it('a product is shown only to its audience', async () => {
  const product = await area.product();
  const binding = await qualified(product.id);
  const sees = async (tenantId: string): Promise<boolean> =>
    (await area.products.visibleTo(tenantId, product.id)) !== undefined &&
    (await area.products.listVisibleTo(tenantId, { after: null, limit: 200 })).rows.some(({ id }) => id === product.id);
  expect(await sees('ten_1')).toBe(false);
  await publish(product.id, [one(binding.id)], { audience: { visibility: 'tenant', tenants: ['ten_3'] } });
  expect(await Promise.all(['ten_1', 'ten_2', 'ten_3'].map(sees))).toEqual([true, false, true]);
  await publish(product.id, [one(binding.id)], { audience: { visibility: 'shared', tenants: [] } });
  expect(await Promise.all(['ten_1', 'ten_2', 'ten_3'].map(sees))).toEqual([true, true, true]);
  expect(await area.products.visibleTo('ten_2', product.slug)).toMatchObject({
    slug: product.slug,
    bindings: [{ id: binding.id, weight: 1, priority: 0, revisionId: null }],
  });
  expect(JSON.stringify(await area.products.visibleTo('ten_2', product.slug))).not.toContain('zz-sentinel');
});

it('the catalog marks a slug whose tenants share a prefix cache that cache_salt does not divide', async () => {
  const product = await area.product();
  const bound = async (revision: string, hasCacheSalt: boolean): Promise<string> => {
    await area.revision(revision, simulator.url);
    const target = { deployment: 'dep', revision };
    const { body: binding }: any = await area.bindings.create(ADMIN, { product_id: product.id, target });
    expect((await area.qualify(binding.id))['status']).toBe('succeeded');
    // Not before the qualification, whose checks they would change.
    area.traits.set(revision, { ...IGNORING, hasCacheSalt });
    return binding.id;
  };
  const salted = await bound('rev_salted', true);
  const unsalted = await bound('rev_unsalted', false);
  const { id: supplier } = await qualified(product.id);
  const gateway = { publicUrl: 'http://gateway' } as Config['gateway'];
  const catalog = new CatalogService({ gateway }, new ProductMeasurements(area.harness.database), area.products);
  const marks = async (tenantId: string): Promise<boolean[]> => {
    const reader = { ...OTHER, tenantId };
    const { data } = await catalog.list(reader, { limit: 200 });
    return [await catalog.get(reader, product.slug), ...data.filter(({ id }) => id === product.id)].map(
      (entry) => entry.shares_prefix_cache,
    );
  };
  const audience = { visibility: 'tenant', tenants: ['ten_2', 'ten_3'] };
  const cases: [object[], boolean][] = [
    [[one(salted)], false],
    [[one(unsalted)], true],
    [[one(salted), { ...one(unsalted), weight: 0 }], false],
    [[one(salted), { ...one(unsalted), priority: 1 }], true],
    [[one(salted), one(supplier)], true],
  ];
  for (const [bindings, expected] of cases) {
    const body: any = { product_id: product.id, bindings, audience };
    const rehearsed: any = (await area.publications.create(ADMIN, body, true)).body;
    expect(rehearsed.diff).toContainEqual(expect.objectContaining({ path: '/shares_prefix_cache', value: expected }));
    expect((await area.publications.create(ADMIN, body, false)).body).toMatchObject({ shares_prefix_cache: expected });
    expect((await area.publications.list(ADMIN, {}, { limit: 1 })).data[0]!.shares_prefix_cache).toBe(expected);
    for (const tenant of ['ten_1', 'ten_2', 'ten_3']) expect(await marks(tenant)).toEqual([expected, expected]);
  }
  expect(await publish(product.id, [one(unsalted)])).toMatchObject({ shares_prefix_cache: false });
  expect(await marks('ten_1')).toEqual([false, false]);
});

it('a publication of a previous release is marked if it has several tenants', async () => {
  const product = await area.product(OTHER);
  const binding = await qualified(product.id, {}, OTHER);
  await publish(product.id, [one(binding.id)], {}, OTHER);
  const marks = async (audience: object): Promise<(boolean | undefined)[]> => {
    await area.harness.database.tx('system', (tx) =>
      tx.query('update model_api_publications set shares_prefix_cache = null, audience = $2 where product_id = $1', [
        product.id,
        JSON.stringify(audience),
      ]),
    );
    const { data } = await area.publications.list(OTHER, {}, { limit: 1 });
    return [data[0]!.shares_prefix_cache, (await area.products.visibleTo('ten_2', product.id))?.sharesPrefixCache];
  };
  expect(await marks({ visibility: 'tenant', tenants: [] })).toEqual([false, false]);
  expect(await marks({ visibility: 'tenant', tenants: ['ten_2'] })).toEqual([false, false]);
  expect(await marks({ visibility: 'tenant', tenants: ['ten_2', 'ten_3'] })).toEqual([true, true]);
  expect(await marks({ visibility: 'shared', tenants: [] })).toEqual([true, true]);
});

it('a slug belongs to one product of the whole installation', async () => {
  const { slug } = await area.product(OTHER);
  await expect(
    area.products.create(ADMIN, { slug, modalities: ['text'], supported_parameters: [] }),
  ).rejects.toMatchObject({ code: 'product_exists', status: 409 });
});

/** A product as it could be created before slugs had owners. */
async function squat(slug: string): Promise<string> {
  const { id } = await area.product(OTHER);
  await area.harness.database.tx('system', (tx) =>
    tx.query('update model_api_products set slug = $2 where id = $1', [id, slug]),
  );
  return id;
}

it("a tenant creates and publishes products only under its own name, the operator's under any", async () => {
  const body = { modalities: ['text'], supported_parameters: [] };
  for (const slug of ['openai/gpt-4o', 'twofold/chat', 'default/chat'])
    await expect(area.products.create(OTHER, { slug, ...body })).rejects.toMatchObject({
      code: 'slug_not_yours',
      status: 403,
    });
  expect((await area.products.create(OTHER, { slug: 'two/own', ...body })).status).toBe(201);
  expect((await area.products.create(ADMIN, { slug: 'openai/gpt-4o', ...body })).status).toBe(201);

  const old = await squat('mistral/large');
  const binding = await qualified(old, {}, OTHER);
  for (const isDryRun of [true, false])
    await expect(
      area.publications.create(OTHER, { product_id: old, bindings: [one(binding.id)] } as any, isDryRun),
    ).rejects.toMatchObject({ code: 'slug_not_yours', status: 403 });
  expect(await served('mistral/large')).toBeUndefined();
});

it('only the operator tenant publishes to others', async () => {
  const product = await area.product(OTHER);
  const binding = await qualified(product.id, {}, OTHER);
  const refused = [
    { visibility: 'shared', tenants: [] },
    { visibility: 'tenant', tenants: ['ten_3'] },
    { visibility: 'tenant', tenants: ['ten_2', 'ten_3'] },
  ];
  for (const audience of refused)
    for (const isDryRun of [true, false])
      await expect(
        area.publications.create(
          OTHER,
          { product_id: product.id, bindings: [one(binding.id)], audience } as any,
          isDryRun,
        ),
      ).rejects.toMatchObject({ code: 'audience_not_yours', status: 403 });
  expect(await served(product.slug)).toBeUndefined();
  for (const audience of [undefined, { visibility: 'tenant', tenants: ['ten_2'] }])
    await publish(product.id, [one(binding.id)], { audience }, OTHER);
  expect((await served(product.slug)).audience).toEqual({ visibility: 'tenant', tenants: ['ten_2'] });
  expect(await area.products.visibleTo('ten_1', product.slug)).toBeUndefined();
});

it("after the migration, products that tenants published to others are theirs alone, and the operator's stay", async () => {
  const owner = new pg.Client({ connectionString: area.harness.testDatabase.ownerUrl });
  await owner.connect();
  try {
    await owner.query(
      `insert into tenants (id, name, is_operator) values ('ten_1', 'one', true), ('ten_2', 'two', false)`,
    );
    const theirs = await area.product(OTHER);
    await publish(theirs.id, [one((await qualified(theirs.id, {}, OTHER)).id)], {}, OTHER);
    const ours = await area.product();
    const shared = { visibility: 'shared', tenants: [] };
    await publish(ours.id, [one((await qualified(ours.id)).id)], { audience: shared });
    for (const table of ['model_api_publications', 'dataplane_published'])
      await owner.query(`update ${table} set audience = $2 where product_id = $1`, [theirs.id, shared]);
    expect(await area.products.visibleTo('ten_3', theirs.slug)).toBeDefined();
    const before = await served(theirs.slug);

    await owner.query('begin');
    await new OwnAudiences1700000001004().up({ query: (sql: string) => owner.query(sql) } as unknown as QueryRunner);
    await owner.query('commit');

    const after = await served(theirs.slug);
    expect(after.audience).toEqual({ visibility: 'tenant', tenants: [] });
    // Gateways that missed the notification compare versions.
    expect(Number(after.version)).toBe(Number(before.version) + 1);
    expect(await area.products.visibleTo('ten_3', theirs.slug)).toBeUndefined();
    expect(await area.products.visibleTo('ten_2', theirs.slug)).toBeDefined();
    expect((await served(ours.slug)).audience).toEqual(shared);
    expect(await area.products.visibleTo('ten_3', ours.slug)).toBeDefined();
  } finally {
    await owner.end();
  }
});

const drop = (id: string) => area.products.delete(ADMIN, id, {});
const used = (type: string, id: string) => ({ status: 409, extra: { used_by: [{ type, id }] } });

it('a product or binding in use stays, and one that nothing uses goes with what describes it', async () => {
  const product = await area.product();
  const [old, current] = [await qualified(product.id), await qualified(product.id, { credential: 'sk-second' })];
  await publish(product.id, [one(old.id)]);
  const publication = await publish(product.id, [one(current.id)]);
  const both = [publication.id, old.id, current.id];
  const refusal: any = await drop(product.id).catch((error) => error);
  expect([refusal.code, refusal.extra.used_by.map((use: any) => use.id)]).toEqual(['product_in_use', both]);
  for (const id of both) expect(refusal.message).toContain(id);
  await expect(area.bindings.delete(ADMIN, current.id)).rejects.toMatchObject({
    code: 'target_binding_in_use',
    ...used('publication', publication.id),
  });
  await area.bindings.delete(ADMIN, old.id);
  await expect(area.bindings.delete(ADMIN, old.id)).rejects.toMatchObject({ code: 'target_binding_not_found' });
  await area.publications.withdraw(ADMIN, publication.id);
  await expect(drop(product.id)).rejects.toMatchObject(used('target_binding', current.id));
  await area.bindings.delete(ADMIN, current.id);
  await expect(area.products.delete(OTHER, product.id, {})).rejects.toMatchObject({ code: 'product_not_found' });
  expect(await drop(product.id)).toEqual({ id: product.id, state: 'deleted' });
  expect(await rows('select from model_api_publications where product_id = $1', [product.id])).toEqual([]);
  const again = { slug: product.slug, modalities: ['text'], supported_parameters: [] };
  expect((await area.products.create(ADMIN, again)).status).toBe(201);
});

it('a deleted binding no longer keeps its revision, and one that is being qualified stays', async () => {
  const product = await area.product();
  await area.revision('rev_gone', simulator.url);
  const target = { deployment: 'dep', revision: 'rev_gone' };
  const { id } = (await area.bindings.create(ADMIN, { product_id: product.id, target })).body;
  await area.qualify(id);
  expect([area.pins.has(`rev_gone binding:${id}`), area.holds.get('rev_gone')]).toEqual([
    true,
    new Set([`binding:${id}`]),
  ]);
  const operation_id = await area.begin(id);
  await expect(area.bindings.delete(ADMIN, id)).rejects.toMatchObject({
    code: 'operation_in_progress',
    extra: { operation_id },
  });
  await area.harness.finish('ten_1', operation_id);
  await area.bindings.delete(ADMIN, id);
  expect([area.pins.has(`rev_gone binding:${id}`), area.holds.get('rev_gone')]).toEqual([false, new Set()]);
  await expect(area.bindings.qualify(ADMIN, id)).rejects.toMatchObject({ code: 'target_binding_not_found' });
});

it('a patch of a product merges, and is refused if its result breaks a rule or another was faster', async () => {
  const pricing = { currency: 'USD', input_per_mtok: 1, output_per_mtok: 2 };
  const made = await area.product(ADMIN, { context_length: 8_192 });
  const patch = async (body: object, ifMatch?: string) =>
    (await area.products.update(ADMIN, made.id, body, ifMatch === undefined ? {} : { ifMatch })).body;
  const priced = await patch({ display_name: 'Chat', pricing }, made.etag);
  expect(priced).toMatchObject({ display_name: 'Chat', pricing, context_length: 8_192, slug: made.slug });
  await expect(patch({ display_name: 'Late' }, made.etag)).rejects.toMatchObject({ code: 'precondition_failed' });
  const cheaper = await patch({ pricing: { input_per_mtok: 0.5 }, display_name: null, context_length: null });
  expect(cheaper).toMatchObject({
    pricing: { ...pricing, input_per_mtok: 0.5 },
    display_name: made.slug,
    context_length: null,
  });
  expect(await patch({ pricing: { output_per_mtok: 2 } }, cheaper.etag)).toEqual(cheaper);
  await expect(patch({ slug: 'acme/other' })).rejects.toMatchObject({ status: 422, details: [{ code: 'immutable' }] });
  await expect(patch({ pricing: { currency: null } })).rejects.toMatchObject({
    details: [{ field: 'pricing.currency' }],
  });
  await expect(area.products.update(OTHER, made.id, {}, {})).rejects.toMatchObject({ code: 'product_not_found' });
});
