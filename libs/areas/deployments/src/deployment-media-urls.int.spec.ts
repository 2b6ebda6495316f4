import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { publishRoute } from '@slipway/dataplane';
import { DeploymentsBed } from '../test/deployments-bed.js';

const ANY = { allow: 'any', hosts: [] };
const DATA_ONLY = { allow: 'data_only', hosts: [] };
const HOSTS = { allow: 'hosts', hosts: ['images.example.com', '*.cdn.example', '10.0.0.7:8080'] };

let bed: DeploymentsBed;
let count = 0;
let name: string;

beforeAll(async () => {
  bed = await DeploymentsBed.start();
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(() => {
  name = `media-${(count += 1)}`;
});

const create = (body: object = {}) => bed.send('POST', '/deployments', { body: { name, ...body } });
const patch = (body: object) => bed.send('PATCH', `/deployments/${name}`, { body });
/** The row that gateways read. */
const published = async (): Promise<any> =>
  (
    await bed.sql(
      'select deployment_id, tenant_id, media_urls, updated_at from dataplane_routes where deployment_name = $1',
      [name],
    )
  )[0];

it('is a setting of a deployment, which the gateways get in the same transaction', async () => {
  expect((await create()).body.media_urls).toEqual(ANY);
  expect((await published()).media_urls).toEqual(ANY);
  for (const media_urls of [DATA_ONLY, HOSTS]) {
    const { updated_at: before } = await published();
    const { status, body } = await patch({ media_urls });
    expect([status, body.media_urls]).toEqual([200, media_urls]);
    const row = await published();
    expect(row.media_urls).toEqual(media_urls);
    expect(row.updated_at.getTime()).toBeGreaterThan(before.getTime());
  }
  expect((await bed.send('GET', `/deployments/${name}`)).body.media_urls).toEqual(HOSTS);
  expect((await patch({ media_urls: null })).body.media_urls).toEqual(ANY);
  expect((await published()).media_urls).toEqual(ANY);
});

it('is published with a new deployment, and later generations of its route keep it', async () => {
  await create({ media_urls: HOSTS });
  const { deployment_id: deploymentId, tenant_id: tenantId, media_urls: mediaUrls } = await published();
  expect(mediaUrls).toEqual(HOSTS);
  const affinity = { mode: 'soft', ttl_seconds: 600 } as const;
  const route = { deploymentId, tenantId, deploymentName: name, generation: 1, targets: [], affinity };
  await bed.database.tx('system', (tx) => publishRoute(tx, route));
  expect((await published()).media_urls).toEqual(HOSTS);
});

it('writes nothing if another setting changes', async () => {
  await create();
  const before = await published();
  expect((await patch({ description: 'x' })).status).toBe(200);
  expect(await published()).toEqual(before);
});

it.each<[object, string]>([
  [{ allow: 'hosts', hosts: [] }, 'media_urls.hosts min_items'],
  [{ allow: 'hosts' }, 'media_urls.hosts min_items'],
  [{ allow: 'any', hosts: ['a.example'] }, 'media_urls.hosts not_applicable'],
  [{ allow: 'hosts', hosts: ['A.example'] }, 'media_urls.hosts[0] host'],
  [{ allow: 'hosts', hosts: ['a.example', 'https://b.example'] }, 'media_urls.hosts[1] host'],
  [{ allow: 'hosts', hosts: ['a.example/path'] }, 'media_urls.hosts[0] host'],
  [{ allow: 'hosts', hosts: ['*.com'] }, 'media_urls.hosts[0] host'],
  [{ allow: 'hosts', hosts: ['0x7f.1'] }, 'media_urls.hosts[0] host'],
  [{ allow: 'hosts', hosts: ['a.example', 'a.example'] }, 'media_urls.hosts'],
  [{ allow: 'none' }, 'media_urls.allow'],
  [{}, 'media_urls.allow'],
])('refuses %j', async (media_urls, issue) => {
  const refused = await create({ media_urls });
  expect(refused.status).toBeGreaterThanOrEqual(400);
  expect(refused.status).toBeLessThanOrEqual(422);
  const [{ field, code }] = refused.body.error.details;
  expect(`${field} ${code}`.startsWith(issue)).toBe(true);
  await create();
  const { status, body } = await patch({ media_urls });
  // A patch without a field keeps its value.
  if (Object.keys(media_urls).length > 0)
    expect([status, body.error.details[0].field]).toEqual([refused.status, field]);
});
