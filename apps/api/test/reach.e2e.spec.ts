import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Stack, until } from './stack.js';

jest.setTimeout(120_000);

/** Everything on this machine is allowed to everybody: what is refused, is refused for another reason. */
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
/** What somebody's server was sent, by path. */
const asked: { url: string; authorization: string | undefined }[] = [];
let base_url: string;
let acme: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push({ url: request.url ?? '', authorization: request.headers.authorization });
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{"choices":[]}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  stack = await Stack.start({ gateway: true, config: () => CONFIG, env: { HUB_TOKEN } });
  const tenant = await stack.send('POST', '/tenants', { name: 'acme' });
  acme = (await stack.send('POST', '/tokens', { name: 'operator', scopes: ['operator'] }, { token: tenant.body.token }))
    .body.token;
});
afterAll(async () => {
  await stack?.stop();
  server?.closeAllConnections();
  server?.close();
});

const rollOut = (token: string, deployment: string, spec: { target?: string; url?: string; credential_ref?: string }) =>
  stack.send(
    'POST',
    `/deployments/${deployment}/rollouts`,
    {
      spec: {
        model: { id: 'm' },
        runtime: { target: spec.target ?? 'adopted' },
        endpoint: {
          base_url: spec.url ?? base_url,
          ...(spec.credential_ref && { credential_ref: spec.credential_ref }),
        },
      },
      strategy: { type: 'immediate' },
    },
    { token },
  );
const issueOf = ({ status, body }: { status: number; body: any }) => [
  status,
  body.error.details?.map(({ field, code }: any) => `${field} ${code}`),
];

it('10.1: an operator of another tenant names an operator secret beside a server of its own, and gets nothing', async () => {
  await stack.send('POST', '/deployments', { name: 'spy' }, { token: acme });
  const refused = await rollOut(acme, 'spy', { credential_ref: 'hub' });
  expect(issueOf(refused)).toEqual([422, ['spec.endpoint.credential_ref unknown']]);
  const nobodys = await rollOut(acme, 'spy', { credential_ref: 'nub' });
  expect(JSON.stringify(nobodys.body.error.details).replaceAll('nub', 'hub')).toBe(
    JSON.stringify(refused.body.error.details),
  );
  expect(asked).toEqual([]);
});

it('10.3: a target is shown to its tenants, and to others as one that does not exist', async () => {
  const namesFor = async (token: string) =>
    (await stack.send('GET', '/targets', undefined, { token })).body.data.map(({ name }: any) => name);
  expect([await namesFor(acme), await namesFor(stack.token)]).toEqual([['adopted'], ['adopted', 'ours']]);
  const hidden = await rollOut(acme, 'spy', { target: 'ours' });
  expect(issueOf(hidden)).toEqual([422, ['spec.runtime.target unknown']]);
  expect(JSON.stringify(hidden.body)).not.toContain('ours');
});

it('10.3: no supplier, receiver, sandbox or engine is a port of our own', async () => {
  const api = stack.apiUrl();
  const product = (await stack.send('POST', '/admin/model-api/products', { slug: 'self/chat' })).body;
  const target = { supplier: 's', base_url: api, model: 'm' };
  const binding = (await stack.send('POST', '/admin/model-api/target-bindings', { product_id: product.id, target }))
    .body;
  const qualify = await stack.send('POST', `/admin/model-api/target-bindings/${binding.id}/qualify`, {});
  expect(JSON.stringify(await stack.operation(qualify.body.operation.id))).toContain('egress guard refused');

  const reference = { provider: 'custom', base_url: api, external_id: 'x' };
  const { sandbox_id } = (await stack.send('POST', '/sandboxes/references', reference)).body;
  const { sync_operation_id } = (await stack.send('PUT', `/sandboxes/${sandbox_id}/files`, { path: 'a', content: 'x' }))
    .body;
  expect(JSON.stringify(await stack.operation(sync_operation_id))).toContain('egress guard refused');

  const webhook = (await stack.send('POST', '/webhooks', { url: `${api}/api/v1/deployments` })).body;
  await stack.send('POST', '/deployments', { name: 'self' });
  let delivery: any;
  await until('a refused delivery', async () => {
    [delivery] = (await stack.send('GET', `/webhooks/${webhook.id}/deliveries`)).body.data;
    return delivery?.attempts > 0;
  });
  expect(delivery).toMatchObject({ response_status: null, error: expect.any(String) });
  await stack.send('DELETE', `/webhooks/${webhook.id}`);

  expect((await rollOut(stack.token, 'self', { url: api })).status).toBe(202);
  const trouble = async () =>
    (await stack.query(`select message from instances where state <> 'ready'`)).map(({ message }) => message ?? '');
  await until('it to be told', async () => (await trouble()).some((message) => message.includes('not allowed')));
});

it('10.3: a gateway calls no port of our own, whatever was published', async () => {
  await stack.send('POST', '/deployments', { name: 'chat' });
  const { operation } = (await rollOut(stack.token, 'chat', { credential_ref: 'hub' })).body;
  expect(await stack.operation(operation.id)).toMatchObject({ status: 'succeeded' });
  expect(asked.at(-1)?.authorization).toBe(`Bearer ${HUB_TOKEN}`);
  const chat = () =>
    fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'hi' }] }),
    });
  await until('the gateway serves it', async () => (await chat()).status === 200);

  // The reconciler would put it right; here the gateway is all there is.
  await stack.kill('worker');
  await stack.query(
    `update dataplane_backends set updated_at = now(), version = version + 1, instances = replace(instances::text, $1, $2)::jsonb`,
    [base_url, stack.apiUrl()],
  );
  let answer = await chat();
  await until('the gateway to call there', async () => (answer = await chat()).status !== 200);
  expect([answer.status, ((await answer.json()) as any).error.code]).toEqual([502, 'upstream_error']);
});
