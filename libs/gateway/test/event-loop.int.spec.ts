import { spawn, type ChildProcess } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { publishSlug, supplierContext } from '@slipway/dataplane';
import { sealSecret } from '@slipway/platform-database';
import type { Gateway } from '../src/index.js';
import { ask } from './client.js';
import { GatewayInstallation, untilPassing, type TestToken } from './installation.js';
import type { TestUpstream } from './upstream.js';

/*
 * How long one client's answers block the event loop of the gateway, which this process runs. The nightly level sets
 * the variable, because a busy machine delays an event loop as well.
 */
const isRequested = process.env['SLIPWAY_TEST_ISOLATION'] !== undefined;
const SCRIPT = fileURLToPath(new URL('./event-loop.mjs', import.meta.url));
const ROUNDS = 5;
const MOST_MORE_MS = 50;
const SLUG = 'acme/chat';

jest.setTimeout(300_000);

(isRequested ? describe : describe.skip)('the event loop of the gateway', () => {
  let installation: GatewayInstallation;
  let gateway: Gateway;
  let token: TestToken;
  let load: ChildProcess;
  let lines: AsyncIterator<string>;
  let reader: Interface;
  let kinds: string[];

  beforeAll(async () => {
    load = spawn(process.execPath, [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
    reader = createInterface(load.stdout!);
    lines = reader[Symbol.asyncIterator]();
    const server = JSON.parse(await nextLine()) as { url: string; kinds: string[] };
    kinds = server.kinds;
    installation = await GatewayInstallation.create();
    const tenant = await installation.tenant('acme', true);
    token = await installation.token(tenant);
    await installation.revision(tenant, 'chat', 'chat-1', [{ name: 'one', url: server.url } as TestUpstream]);
    await installation.route(tenant, 'chat', { 'chat-1': 100 });
    await publishSlug(installation.db, {
      slug: SLUG,
      tenantId: tenant,
      productId: 'prd_1',
      audience: { visibility: 'shared', tenants: [] },
      bindings: [
        {
          binding_id: 'bnd_1',
          weight: 1,
          priority: 0,
          upstream: {
            kind: 'supplier',
            base_url: `${server.url}/v1`,
            model: 'm',
            credential: sealSecret(installation.keyRing, 'sk', supplierContext(tenant, 'bnd_1')),
            guard: { allow: ['http://127.0.0.1:*'] },
          },
        },
      ],
    });
    gateway = await installation.gateway({});
    for (const model of ['chat', SLUG])
      await untilPassing(async () => expect((await ask(gateway, token, { body: { model } })).status).toBe(200));
  });
  afterAll(async () => {
    reader?.close();
    load?.kill();
    await installation?.destroy();
  });

  async function nextLine(): Promise<string> {
    const { value } = (await lines.next()) as { value: string };
    return value;
  }

  /** The longest delay of the event loop, in milliseconds, while the load runs, with or without a costly answer. */
  async function longestDelay(model: string, kind?: string): Promise<number> {
    const delays = monitorEventLoopDelay({ resolution: 1 });
    delays.enable();
    load.stdin!.write(
      `${JSON.stringify({ url: `http://127.0.0.1:${gateway.port}`, token: token.text, model, kind })}\n`,
    );
    await nextLine();
    delays.disable();
    return delays.max / 1e6;
  }

  async function median(model: string, kind?: string): Promise<number> {
    const all: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) all.push(await longestDelay(model, kind));
    return all.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!;
  }

  it.each([
    ['a deployment', 'chat'],
    ['a slug', SLUG],
  ])('is blocked for at most 50 ms more by any answer to %s', async (_of, model) => {
    await longestDelay(model);
    const without = await median(model);
    const more: [string, number][] = [];
    for (const kind of kinds) more.push([kind, Math.round((await median(model, kind)) - without)]);
    process.stderr.write(`${model}: ${Math.round(without)} ms; more: ${JSON.stringify(Object.fromEntries(more))}\n`);
    expect(more.filter(([, ms]) => ms > MOST_MORE_MS)).toEqual([]);
  });
});
