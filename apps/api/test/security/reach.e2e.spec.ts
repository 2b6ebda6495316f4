import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Slipway, SlipwayError } from '@slipway/sdk';
import { refusalOf } from '../harness/refusals.js';
import { Stack, until } from '../harness/stack.js';

jest.setTimeout(120_000);

/** All tenants may use everything on this machine: a refusal has another reason. */
const CONFIG = `
defaults: false
targets:
  - {name: adopted, kind: endpoint, allow: ["http://127.0.0.1:*"]}
  - {name: ours, kind: endpoint, tenants: [default], allow: ["http://127.0.0.1:*"]}
outbound: {webhooks: ["http://127.0.0.1:*"], suppliers: ["http://127.0.0.1:*"], sandboxes: ["http://127.0.0.1:*"]}
secrets:
  hub: {env: HUB_TOKEN}
`;
const HUB_TOKEN = 'hub-token-of-the-operator';

let stack: Stack;
let server: Server;
/** The requests to a server outside Slipway, by path. */
const asked: { url: string; authorization: string | undefined }[] = [];
let base_url: string;
let slipway: Slipway;
let acme: Slipway;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push({ url: request.url ?? '', authorization: request.headers.authorization });
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{"choices":[]}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  stack = await Stack.start({ gateway: true, config: () => CONFIG, env: { HUB_TOKEN } });
  slipway = stack.slipway();
  const tenant = await slipway.tenants.create({ name: 'acme' });
  acme = stack.as((await stack.as(tenant.token!).tokens.create({ name: 'operator', scopes: ['operator'] })).token!);
});
afterAll(async () => {
  await stack?.stop();
  server?.closeAllConnections();
  server?.close();
});

const rollOut = (by: Slipway, deployment: string, spec: { target?: string; url?: string; credential_ref?: string }) =>
  by.deployments.rollouts.create(deployment, {
    spec: {
      model: { id: 'm' },
      runtime: { target: spec.target ?? 'adopted' },
      endpoint: { base_url: spec.url ?? base_url, ...(spec.credential_ref && { credential_ref: spec.credential_ref }) },
    },
    strategy: { type: 'immediate' },
  });
const issueOf = ({ status, details }: SlipwayError) => [status, details.map(({ field, code }) => `${field} ${code}`)];

it('an operator of another tenant names an operator secret with a server of its own, and gets nothing', async () => {
  await acme.deployments.create({ name: 'spy' });
  const refused = await refusalOf(rollOut(acme, 'spy', { credential_ref: 'hub' }));
  expect(issueOf(refused)).toEqual([422, ['spec.endpoint.credential_ref unknown']]);
  const nobodys = await refusalOf(rollOut(acme, 'spy', { credential_ref: 'nub' }));
  expect(JSON.stringify(nobodys.details).replaceAll('nub', 'hub')).toBe(JSON.stringify(refused.details));
  expect(asked).toEqual([]);
});

it('a target is shown to its tenants, and as nonexistent to others', async () => {
  const namesFor = async (by: Slipway) => (await by.targets.list()).data.map(({ name }) => name);
  expect([await namesFor(acme), await namesFor(slipway)]).toEqual([['adopted'], ['adopted', 'ours']]);
  const hidden = await refusalOf(rollOut(acme, 'spy', { target: 'ours' }));
  expect(issueOf(hidden)).toEqual([422, ['spec.runtime.target unknown']]);
  // The error repeats the name that the client sent, and is otherwise the one for a name that no target has.
  const unknown = await refusalOf(rollOut(acme, 'spy', { target: 'nowhere' }));
  const textOf = ({ body }: typeof hidden) => JSON.stringify({ ...body, request_id: null });
  expect(textOf(hidden).replaceAll('ours', 'nowhere')).toBe(textOf(unknown));
  expect(textOf(unknown)).not.toContain('ours');
});

it('no supplier, receiver, sandbox or engine is a port of our own', async () => {
  const api = stack.apiUrl();
  const { products, targetBindings } = slipway.admin.modelApi;
  const product = await products.create({ slug: 'self/chat' });
  const target = { supplier: 's', base_url: api, model: 'm' };
  const binding = await targetBindings.create({ product_id: product.id, target });
  const qualify = await targetBindings.qualify(binding.id);
  expect(JSON.stringify(await stack.operation(qualify.operation.id))).toContain('egress guard refused');

  const reference = { provider: 'custom' as const, base_url: api, external_id: 'x' };
  const { sandbox_id } = await slipway.sandboxes.references.create(reference);
  const { sync_operation_id } = await slipway.sandboxes.files.put(sandbox_id, { path: 'a', content: 'x' });
  expect(JSON.stringify(await stack.operation(sync_operation_id!))).toContain('egress guard refused');

  const webhook = await slipway.webhooks.create({ url: `${api}/api/v1/deployments` });
  await slipway.deployments.create({ name: 'self' });
  let delivery: any;
  await until('a refused delivery', async () => {
    [delivery] = (await slipway.webhooks.deliveries(webhook.id)).data;
    return delivery?.attempts > 0;
  });
  expect(delivery).toMatchObject({ response_status: null, error: expect.any(String) });
  await slipway.webhooks.delete(webhook.id);

  await rollOut(slipway, 'self', { url: api });
  const trouble = async () =>
    (await stack.query(`select message from instances where state <> 'ready'`)).map(({ message }) => message ?? '');
  await until('it to be told', async () => (await trouble()).some((message) => message.includes('not allowed')));
});

it('a gateway calls no port of our own, whatever was published', async () => {
  await slipway.deployments.create({ name: 'chat' });
  const { operation } = await rollOut(slipway, 'chat', { credential_ref: 'hub' });
  expect(await stack.operation(operation.id)).toMatchObject({ status: 'succeeded' });
  expect(asked.at(-1)?.authorization).toBe(`Bearer ${HUB_TOKEN}`);
  const chat = () =>
    fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'hi' }] }),
    });
  await until('the gateway serves it', async () => (await chat()).status === 200);

  // The reconciler would fix it; here only the gateway runs.
  await stack.kill('worker');
  await stack.query(
    `update dataplane_backends set updated_at = now(), version = version + 1, instances = replace(instances::text, $1, $2)::jsonb`,
    [base_url, stack.apiUrl()],
  );
  let answer = await chat();
  await until('the gateway to call there', async () => (answer = await chat()).status !== 200);
  expect([answer.status, ((await answer.json()) as any).error.code]).toEqual([502, 'upstream_error']);
});
