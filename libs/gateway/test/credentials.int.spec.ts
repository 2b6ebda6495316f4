import { spawn } from 'node:child_process';
import { createCipheriv, randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { instanceKey, publishBackend, publishSlug, supplierContext, type PublishedBinding } from '@slipway/dataplane';
import { KeyRing } from '@slipway/platform-config';
import { sealSecret } from '@slipway/platform-database';
import { ForeignKeyError, type Gateway } from '../src/index.js';
import { ask } from './client.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { respondJson, TestUpstream } from './upstream.js';

const MAIN = fileURLToPath(new URL('../../../apps/gateway/dist/main.js', import.meta.url));

let installation: GatewayInstallation;
let gateway: Gateway;
let upstream: TestUpstream;
let another: TestUpstream;
let victim: TestToken;
let thief: TestToken;

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  [upstream, another] = [await TestUpstream.start('one'), await TestUpstream.start('two')];
  victim = await installation.token(await installation.tenant('victim'));
  thief = await installation.token(await installation.tenant('thief'));
  gateway = await installation.gateway();
});
afterAll(async () => {
  await installation.destroy();
  await Promise.all([upstream.stop(), another.stop()]);
});

async function deploy(token: TestToken, name: string, credential?: string): Promise<void> {
  await installation.revision(token.tenantId, name, `${name}-1`, [upstream], credential);
  await installation.route(token.tenantId, name, { [`${name}-1`]: 100 });
}

const publish = (token: TestToken, name: string, bindings: PublishedBinding[]): Promise<boolean> =>
  publishSlug(installation.db, {
    slug: `${name}/chat`,
    tenantId: token.tenantId,
    productId: `prd_${name}`,
    bindings,
    audience: { visibility: 'tenant', tenants: [] },
  });

function supplier(id: string, credential: string): PublishedBinding {
  const guard = { allow: ['http://127.0.0.1:*'] };
  const to = { kind: 'supplier', base_url: upstream.url, model: 'm', credential, guard } as const;
  return { binding_id: id, weight: 1, priority: 0, upstream: to };
}

/** Returns the credential that the upstream saw, or the status if it saw no request. */
async function carried(token: TestToken, model: string): Promise<string | number | undefined> {
  upstream.seen.length = 0;
  const { status } = await ask(gateway, token, { body: { model, messages: [] } });
  return upstream.seen.length === 0 ? status : upstream.seen[0]?.headers.authorization;
}

it('a credential that was copied into the row of another tenant does not open there', async () => {
  await deploy(victim, 'mine', 'sk-victim');
  await deploy(thief, 'theirs');
  await untilPassing(async () => expect(await carried(victim, 'mine')).toBe('Bearer sk-victim'));
  await untilPassing(async () => expect(await carried(thief, 'theirs')).toBeUndefined());
  await installation.sql(
    `with copied as (select credential from dataplane_backends where revision_id = 'rev_mine-1')
     update dataplane_backends set credential = copied.credential, updated_at = clock_timestamp() from copied where revision_id = 'rev_theirs-1'`,
  );
  await untilPassing(async () => expect(await carried(thief, 'theirs')).toBe(503));
  expect(await carried(victim, 'mine')).toBe('Bearer sk-victim');
});

it('a copied credential of a supplier does not open either, under the same binding or another one', async () => {
  const context = supplierContext(victim.tenantId, 'bnd_1');
  const sealed = sealSecret(installation.keyRing, 'sk-supplier', context);
  await publish(victim, 'victim', [supplier('bnd_1', sealed)]);
  await untilPassing(async () => expect(await carried(victim, 'victim/chat')).toBe('Bearer sk-supplier'));
  await publish(thief, 'thief', [supplier('bnd_2', sealed)]);
  await untilPassing(async () => expect(await carried(thief, 'thief/chat')).toBe(503));
  expect(() => sealed && gatewayOpens(sealed, supplierContext(thief.tenantId, 'bnd_1'))).toThrow();
  expect(gatewayOpens(sealed, context)).toBe('sk-supplier');
});

it('a credential of an older version, which named no key and was bound to nothing, still opens', async () => {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', installation.secretKey, nonce);
  const box = [nonce, Buffer.concat([cipher.update('sk-older'), cipher.final()]), cipher.getAuthTag()];
  await deploy(victim, 'older');
  await installation.sql(
    `update dataplane_backends set credential = $1, updated_at = clock_timestamp() where revision_id = 'rev_older-1'`,
    [['v1', ...box.map((part) => part.toString('base64url'))].join('.')],
  );
  await untilPassing(async () => expect(await carried(victim, 'older')).toBe('Bearer sk-older'));
});

it('an engine that requires its own key gets the key of its generation, not the revision’s credential', async () => {
  const { current } = installation.keyRing;
  const instanceOf = (id: string, at: TestUpstream, key?: { id: string; generation: number }) => ({
    id,
    base_url: at.url,
    state: 'ready' as const,
    ...(key && { key }),
  });
  const publishInstances = async (...instances: ReturnType<typeof instanceOf>[]): Promise<void> => {
    await publishBackend(installation.db, {
      revisionId: 'rev_keyed-1',
      revisionName: 'keyed-1',
      tenantId: victim.tenantId,
      deploymentId: 'dep_keyed',
      modelId: 'm',
      instances,
      credential: installation.sealedFor(victim.tenantId, 'rev_keyed-1', 'sk-revision'),
      guard: null,
    });
  };
  await publishInstances(instanceOf('ins_1', upstream, { id: current.id, generation: 7 }));
  await installation.route(victim.tenantId, 'keyed', { 'keyed-1': 100 });
  const keyOf = (generation: number): string =>
    `Bearer ${instanceKey(installation.keyRing, { instanceId: 'ins_1', generation, keyId: current.id })}`;
  await untilPassing(async () => expect(await carried(victim, 'keyed')).toBe(keyOf(7)));
  // The same address, but a new start of the engine.
  await publishInstances(instanceOf('ins_1', upstream, { id: current.id, generation: 8 }));
  await untilPassing(async () => expect(await carried(victim, 'keyed')).toBe(keyOf(8)));
  await publishInstances(instanceOf('ins_1', upstream));
  await untilPassing(async () => expect(await carried(victim, 'keyed')).toBe('Bearer sk-revision'));

  // The key is not in the ring: that instance gets no requests, the others do, and it is logged once.
  const foreign = { id: '00000000', generation: 1 };
  await publishInstances(instanceOf('ins_1', upstream, foreign), instanceOf('ins_2', upstream, foreign));
  await untilPassing(async () => expect(await carried(victim, 'keyed')).toBe(503));
  await publishInstances(instanceOf('ins_1', upstream, foreign), instanceOf('ins_3', another));
  await untilPassing(async () => expect((await ask(gateway, victim, { body: { model: 'keyed' } })).status).toBe(200));
  upstream.seen.length = another.seen.length = 0;
  for (let n = 0; n < 10; n += 1) await ask(gateway, victim, { body: { model: 'keyed' } });
  expect([upstream.seen.length, another.seen.length]).toEqual([0, 10]);
  expect(installation.logged.filter((line) => line.includes('00000000'))).toHaveLength(1);
});

it('a server that answers 401 when the engine has its own key is another server, and its answer reaches no client', async () => {
  const { current } = installation.keyRing;
  const isolating = await installation.gateway({ ejection: { failures: 5, baseMs: 60_000, mostMs: 60_000 } });
  const keyed = (id: string, at: TestUpstream) => ({
    id,
    base_url: at.url,
    state: 'ready' as const,
    key: { id: current.id, generation: 1 },
  });
  const publishInstances = (...instances: (Omit<ReturnType<typeof keyed>, 'key'> & { key?: object })[]) =>
    publishBackend(installation.db, {
      revisionId: 'rev_taken-1',
      revisionName: 'taken-1',
      tenantId: victim.tenantId,
      deploymentId: 'dep_taken',
      modelId: 'm',
      instances: instances as ReturnType<typeof keyed>[],
      credential: installation.sealedFor(victim.tenantId, 'rev_taken-1', 'sk-revision'),
      guard: null,
    });
  const chat = () => ask(isolating, victim, { body: { model: 'taken', messages: [] } });
  await publishInstances(keyed('ins_1', upstream), keyed('ins_2', another));
  await installation.route(victim.tenantId, 'taken', { 'taken-1': 100 });
  await untilPassing(async () => expect((await chat()).status).toBe(200));

  upstream.behaviour = (_request, response) => respondJson(response, 401, { error: { message: 'a stranger' } });
  try {
    upstream.seen.length = 0;
    await untilPassing(async () => {
      expect((await chat()).status).toBe(200);
      expect(upstream.seen).toHaveLength(1);
    });
    // It is ejected from then on: it saw one prompt, and no second.
    for (let n = 0; n < 10; n += 1) expect((await chat()).status).toBe(200);
    expect(upstream.seen).toHaveLength(1);
    expect(isolating.metrics()).toMatch(/ejected_instances\{[^}]*revision="taken-1"\} 1$/m);
    expect(isolating.metrics()).toMatch(/attempts_total\{[^}]*revision="taken-1",class="connect_error"\} 1$/m);

    await publishInstances(keyed('ins_3', upstream));
    await untilPassing(async () => {
      const alone = await chat();
      expect([alone.status, alone.body.error.code]).toEqual([503, 'unavailable']);
    });
    // The operator of an adopted server must correct its credential.
    await publishInstances({ id: 'ins_4', base_url: upstream.url, state: 'ready' });
    await untilPassing(async () => {
      const adopted = await chat();
      expect([adopted.status, adopted.body.error.code]).toEqual([502, 'upstream_credential_refused']);
    });
  } finally {
    upstream.behaviour = (request, response) => upstream.answer(request, response);
    await isolating.close();
  }
});

it('a gateway does not start with another key, and starts with the right one among others', async () => {
  await deploy(victim, 'sealed', 'sk-victim');
  const home = `${installation.home}/another`;
  const other = randomBytes(32);
  await expect(installation.gateway({}, { home, keyRing: new KeyRing(other) })).rejects.toThrow(ForeignKeyError);
  const rotated = new KeyRing(other, [installation.secretKey]);
  await (await installation.gateway({}, { home, keyRing: rotated })).close();
});

it('a gateway that was started with another key reports that and exits with 78', async () => {
  await deploy(victim, 'sealed', 'sk-victim');
  const { status, said } = await startWith(new KeyRing(randomBytes(32)).current.secret.export());
  expect(status).toBe(78);
  expect(said).toMatch(/none of the published credentials can be decrypted/);
  expect(said).toContain('SLIPWAY_SECRET_KEYS_OLD');
});

function gatewayOpens(sealed: string, context: string): string {
  return (gateway as unknown as { credentials: { open(sealed: string, context: string): string } }).credentials.open(
    sealed,
    context,
  );
}

function startWith(secretKey: Buffer): Promise<{ status: number | null; said: string }> {
  const env = {
    PATH: process.env['PATH'],
    SLIPWAY_HOME: `${installation.home}/other`,
    SLIPWAY_GATEWAY_PORT: '0',
    DATABASE_URL: installation.database.gatewayUrl,
    SLIPWAY_SECRET_KEY: secretKey.toString('base64'),
  };
  const child = spawn(process.execPath, [MAIN], { env, cwd: installation.home, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => (said += String(chunk)));
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, said })));
}
