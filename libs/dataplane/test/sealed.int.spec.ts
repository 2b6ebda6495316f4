import { createCipheriv, randomBytes } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { KeyRing, type Config } from '@slipway/platform-config';
import { rotateSecretKey } from '@slipway/platform-database';
import {
  backendContext,
  openPublished,
  publishBackend,
  publishSlug,
  readEntries,
  readVersions,
  sealed,
  supplierContext,
  type SupplierUpstream,
} from '../src/index.js';
import { DataplaneConnection } from './connection.js';

const key = randomBytes(32);
const keyRing = new KeyRing(randomBytes(32), [key]);

const connection = DataplaneConnection.ofSpec();

/** Seals as older versions did for gateways: without a key id and without a context. */
function older(plaintext: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const box = [nonce, Buffer.concat([cipher.update(plaintext), cipher.final()]), cipher.getAuthTag()];
  return ['v1', ...box.map((part) => part.toString('base64url'))].join('.');
}

it('a rotation binds older credentials to their rows, and makes gateways read them again', async () => {
  const tenantId = 'ten_1';
  await publishBackend(connection.db, {
    revisionId: 'rev_1',
    revisionName: 'chat-00001',
    tenantId,
    deploymentId: 'dep_1',
    modelId: 'm',
    instances: [],
    credential: older('sk-engine'),
    guard: null,
  });
  const to = { kind: 'supplier' as const, base_url: 'https://s', model: 'm', guard: { allow: [] } };
  const bindings = ['bnd_1', 'bnd_2', 'bnd_3'].map((binding_id, index) => ({
    binding_id,
    weight: 1,
    priority: index,
    upstream: { ...to, credential: index === 2 ? null : older(`sk-${binding_id}`) },
  }));
  const audience = { visibility: 'tenant', tenants: [] } as const;
  await publishSlug(connection.db, {
    slug: 'a/b',
    tenantId,
    productId: 'prd',
    bindings,
    audience: { ...audience, tenants: [] },
  });
  const versions = await readVersions(connection.db);

  const database = { url: connection.url, poolSize: 2 };
  const heard = await connection.heard('slipway_dataplane', async () => {
    expect(await rotateSecretKey({ env: 'test', database, keyRing } as unknown as Config, sealed, [], [])).toBe(0);
  });
  expect(heard.sort()).toEqual(['backend:rev_1', 'slug:a/b']);
  for (const { id, version } of await readVersions(connection.db))
    expect(version).toBeGreaterThan(versions.find((before) => before.id === id)?.version as number);
  const { backends, slugs } = await readEntries(connection.db, {
    routes: [],
    backends: ['rev_1'],
    slugs: ['a/b'],
    passports: [],
  });
  const current = new KeyRing(keyRing.current.secret.export());
  expect(openPublished(current, backends[0]?.credential as string, backendContext(tenantId, 'rev_1'))).toBe(
    'sk-engine',
  );
  const credentials = slugs[0]!.bindings.map(({ upstream }) => (upstream as SupplierUpstream).credential);
  expect(openPublished(current, credentials[0] as string, supplierContext(tenantId, 'bnd_1'))).toBe('sk-bnd_1');
  expect(() => openPublished(current, credentials[0] as string, supplierContext(tenantId, 'bnd_2'))).toThrow();
  expect(openPublished(current, credentials[1] as string, supplierContext(tenantId, 'bnd_2'))).toBe('sk-bnd_2');
  expect(credentials[2]).toBeNull();
});
