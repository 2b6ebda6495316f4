import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Config } from '@slipway/platform-config';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { configOf, MIGRATIONS, startApp } from './sandbox-app.js';
import { clientOf, eventually, newTenant, type SandboxClient } from './tenants.js';

let testDatabase: TestDatabase;
let folder: string;
let provider: Server;
let base_url: string;
let received: string[];

beforeAll(async () => {
  testDatabase = await createTestDatabase(MIGRATIONS);
  folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-destinations-'));
  received = [];
  provider = createServer((request, response) => {
    received.push(request.url!);
    request.resume().on('end', () => response.end());
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  base_url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
});
afterAll(async () => {
  provider?.closeAllConnections();
  provider?.close();
  await testDatabase?.drop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Runs api and worker with a configuration for as long as `work` takes. */
async function under<T>(change: Partial<Config>, work: (app: Awaited<ReturnType<typeof startApp>>) => Promise<T>) {
  const upload = { maxBytes: 1 << 20, workspaceStore: `file:${folder}`, s3: { region: 'x' } };
  const started = await startApp(configOf(testDatabase.url, { upload, ...change }));
  try {
    return await work(started);
  } finally {
    await started.app.close();
  }
}

const sandboxesAt = (...sandboxes: NonNullable<Config['operator']['outbound']>['sandboxes'] & object) => ({
  operator: { targets: [], secrets: {}, outbound: { sandboxes } },
});

it('files are sent to a private sandbox of the tenants it is for, to no engine, and to no port of its own', async () => {
  const [mine, others] = await under({}, async ({ app }) => [await newTenant(app), await newTenant(app)]);
  // The name of a tenant in these tests is its id.
  const named = sandboxesAt({ origin: base_url, tenants: [mine!.tenantId] });
  const register = (send: SandboxClient) =>
    send('POST', '/sandboxes/references', { json: { provider: 'custom', base_url, external_id: 'x' } });
  const push = async (send: SandboxClient, sandboxId: string, file: string) => {
    await send('PUT', `/sandboxes/${sandboxId}/files?path=${file}`, { body: 'x' });
    return eventually(async () => {
      const { body } = await send('GET', `/sandboxes/${sandboxId}/files`);
      return body.data.find((one: any) => one.path === file && one.sync !== 'pending');
    }, `a push of ${file}`);
  };

  const sandboxId = await under(named, async ({ origin }) => {
    const refused = await register(clientOf(origin, others!.token));
    expect([refused.status, refused.body.error.details[0].code]).toEqual([422, 'address_not_allowed']);
    const send = clientOf(origin, mine!.token);
    const { body } = await register(send);
    expect(body.egress_allowed).toBe(true);
    expect((await push(send, body.sandbox_id, 'first')).sync).toBe('synced');
    return body.sandbox_id as string;
  });
  expect(received).toHaveLength(1);

  const engines = [{ name: 'adopted', kind: 'endpoint', allow: [base_url] }];
  const changes: [string, Partial<Config>, RegExp][] = [
    ['tenants', sandboxesAt({ origin: base_url, tenants: [others!.tenantId] }), /does not allow/],
    ['engines', { operator: { targets: engines, secrets: {} } }, /does not allow/],
    ['ports', { ...named, ownPorts: [Number(new URL(base_url).port)] }, /The egress guard refused the request/],
  ];
  for (const [file, change, problem] of changes)
    await under(change, async ({ origin }) =>
      expect((await push(clientOf(origin, mine!.token), sandboxId, file)).sync_error).toMatch(problem),
    );
  expect(received).toHaveLength(1);
}, 60_000);
