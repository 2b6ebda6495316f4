import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { RevisionSpec } from '@slipway/contracts';
import { backendContext, openPublished } from '@slipway/dataplane';
import { KeyRing, type OperatorConfig } from '@slipway/platform-config';
import { ReadAudit } from '@slipway/platform-durable/mutations';
import { TargetBed, until, workloadOf, type InstancesProcess } from '../../test/target-bed.js';
import { TargetsService } from '../targets/targets.service.js';

const OPERATOR = 'ten_a';
/** The tenant `acme`. */
const ACME = 'ten_b';
const NO_SUCH_SECRET = (name: string) => `the operator's configuration has no secret "${name}"`;

let bed: TargetBed;
let server: Server;
let asked: (string | undefined)[];
let base_url: string;

beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    asked.push(request.headers.authorization);
    response.end('{"choices":[]}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  bed = await TargetBed.create(4);
});
afterEach(async () => {
  await bed.dispose();
  server.closeAllConnections();
  server.close();
});

const withOperator = (change: Partial<OperatorConfig>) => ({ operator: { ...bed.config.operator, ...change } });
const secretFor = (use: object) =>
  withOperator({ secrets: { key: { ...bed.config.operator.secrets['key'], ...use } } });
const adoptedBy = (change: object) =>
  withOperator({
    targets: bed.config.operator.targets.map((one) => (one.name === 'adopted' ? { ...one, ...change } : one)),
  });
const adopting = (url: string, credential_ref?: string): RevisionSpec =>
  bed.spec(
    {},
    {
      runtime: { target: 'adopted', args: {}, env: {} },
      endpoint: {
        base_url: url,
        protocol: 'openai',
        health_path: '/health',
        ...(credential_ref && { credential_ref }),
      },
    },
  );
const withEnv = (secret_ref: string): RevisionSpec =>
  bed.spec({}, { runtime: { target: 'local', engine: 'mini', args: {}, env: { API_KEY: { secret_ref } } } });
const want = (process: InstancesProcess, tenantId: string, revision: string, spec: RevisionSpec) =>
  process.database.tx('system', (tx) =>
    process.instances.want(tx, { ...workloadOf(revision, spec), tenantId }, 'operation:op_1'),
  );
const rowOf = async (process: InstancesProcess, revision: string) => (await process.rows(revision))[0];
const publishedAt = async (process: InstancesProcess, revision: string) =>
  (await process.published(revision))[0]?.instances;

describe('secrets', () => {
  /** By the permitted use of the secret with which each was started. */
  const apis = new Map<string, Promise<InstancesProcess>>();
  beforeEach(() => apis.clear());
  const issuesOf = async (change: object, tenantId: string, spec: RevisionSpec) => {
    const use = JSON.stringify(change);
    const api = apis.get(use) ?? bed.process('api', secretFor(change));
    apis.set(use, api);
    return (await (await api).check(spec, tenantId)).map(({ field, message }) => [field, message]);
  };
  const credential = () => adopting(base_url, 'key');
  const refusedCredential = [['endpoint.credential_ref', NO_SUCH_SECRET('key')]];
  const refusedAddress = [['endpoint.credential_ref', 'secret "key" may not be sent to this address']];

  it('are for the tenants that they name, else for the operator alone, and do not exist for others', async () => {
    expect(await issuesOf({}, OPERATOR, credential())).toEqual([]);
    expect(await issuesOf({}, OPERATOR, withEnv('key'))).toEqual([]);
    expect(await issuesOf({}, ACME, credential())).toEqual(refusedCredential);
    expect(await issuesOf({}, ACME, withEnv('key'))).toEqual([['runtime.env.API_KEY', NO_SUCH_SECRET('key')]]);
    expect(await issuesOf({}, ACME, withEnv('nobody'))).toEqual([['runtime.env.API_KEY', NO_SUCH_SECRET('nobody')]]);
    expect(await issuesOf({}, 'ten_unknown', credential())).toEqual(refusedCredential);
    // If tenants are named, no others may use the secret, not even the operator.
    expect(await issuesOf({ tenants: ['acme'] }, OPERATOR, credential())).toEqual(refusedCredential);
    expect(await issuesOf({ tenants: ['acme'] }, ACME, withEnv('key'))).toEqual([]);
    expect(await issuesOf({ tenants: ['*'] }, ACME, withEnv('key'))).toEqual([]);
  });

  it('are sent to the origins that they name; without origins, only the operator may send them', async () => {
    const tenants = ['acme', 'default'];
    expect(await issuesOf({ tenants }, ACME, credential())).toEqual(refusedAddress);
    expect(await issuesOf({ tenants }, OPERATOR, credential())).toEqual([]);
    expect(await issuesOf({ tenants, origins: [base_url] }, ACME, credential())).toEqual([]);
    for (const tenant of [ACME, OPERATOR])
      expect(await issuesOf({ tenants, origins: ['https://*.hf.example.com'] }, tenant, credential())).toEqual(
        refusedAddress,
      );
  });

  it('are not sent for a revision that was accepted earlier', async () => {
    const worker = await bed.process('worker');
    await want(worker, ACME, 'rev_1', adopting(base_url, 'key'));
    await want(worker, ACME, 'rev_2', withEnv('key'));
    // Each retry hides the message for a moment, so the comparison uses one read.
    for (const revision of ['rev_1', 'rev_2']) {
      let message: string | null | undefined;
      await until('it to be refused', async () => Boolean((message = (await rowOf(worker, revision))?.message)));
      expect(message).toBe(`it could not be started: ${NO_SUCH_SECRET('key')}`);
    }
    expect([asked, await bed.starts()]).toEqual([[], []]);
    expect(await worker.instances.probe('rev_1')).toEqual({ answered: 0, asked: 0 });
  });

  it('leave a row in the audit of the tenant whose revision uses them, and a refused use leaves none', async () => {
    const worker = await bed.process('worker', secretFor({ tenants: ['acme'], origins: [base_url] }));
    await want(worker, ACME, 'rev_1', adopting(base_url, 'key'));
    await want(worker, ACME, 'rev_2', withEnv('nobody'));
    await until('it to be published', async () => (await publishedAt(worker, 'rev_1'))?.length === 1);
    await until('the other to be refused', async () => Boolean((await rowOf(worker, 'rev_2'))?.message));
    await worker.context.get(ReadAudit, { strict: false }).flush();
    expect(
      await worker.database.read(
        'system',
        'select tenant_id, actor, action, resource_type, resource_name from audit_log',
      ),
    ).toEqual([
      {
        tenant_id: ACME,
        actor: 'system:revision/rev_1',
        action: 'secret.used',
        resource_type: 'secret',
        resource_name: 'key',
      },
    ]);
  });

  it('are withdrawn if the configuration no longer gives them to the tenant', async () => {
    const given = await bed.process('worker', secretFor({ tenants: ['acme'], origins: [base_url] }));
    await want(given, ACME, 'rev_1', adopting(base_url, 'key'));
    await until('it to be published', async () => (await publishedAt(given, 'rev_1'))?.length === 1);
    const [backend] = await given.published('rev_1');
    const context = backendContext(ACME, 'rev_1');
    expect(openPublished(new KeyRing(Buffer.alloc(32)), backend?.credential ?? '', context)).toBe('sk-from-file');
    expect(await given.instances.probe('rev_1')).toEqual({ answered: 1, asked: 1 });
    await given.close();
    asked.length = 0;

    const taken = await bed.process('worker', secretFor({ tenants: ['acme'], origins: ['https://elsewhere.example'] }));
    expect(await taken.instances.probe('rev_1')).toEqual({ answered: 0, asked: 1 });
    await until('it to leave', async () => (await publishedAt(taken, 'rev_1'))?.length === 0);
    expect((await taken.published('rev_1'))[0]?.credential).toBeNull();
    expect(await rowOf(taken, 'rev_1')).toMatchObject({
      state: 'unhealthy',
      reason: 'not_allowed',
      message: 'secret "key" may not be sent to this address',
    });
    expect(asked).toEqual([]);
  });
});

describe('targets', () => {
  it('do not exist for a tenant that they do not name', async () => {
    const api = await bed.process('api', adoptedBy({ tenants: ['default'] }));
    const issues = await api.check(adopting(base_url), ACME);
    const message = 'execution target "adopted" does not exist; available: local';
    expect(issues).toEqual([{ field: 'runtime.target', code: 'unknown', message }]);
    expect(await api.check(adopting(base_url), OPERATOR)).toEqual([]);
    const targets = api.context.get(TargetsService);
    const namesFor = async (tenantName: string) =>
      (await targets.list({ tenantId: 'ten_b', tenantName, isOperatorTenant: false }, { limit: 50 })).data.map(
        ({ name }) => name,
      );
    expect([await namesFor('acme'), await namesFor('default')]).toEqual([['local'], ['adopted', 'local']]);

    const worker = await bed.process('worker', adoptedBy({ tenants: ['default'] }));
    await want(worker, ACME, 'rev_1', adopting(base_url));
    await until('the start to be refused', async () => (await rowOf(worker, 'rev_1'))?.state === 'backing_off');
    expect(asked).toEqual([]);
  });

  it('allow a tenant its origins, and publish no others', async () => {
    const here = { origin: 'http://127.0.0.1:*', tenants: ['acme'] };
    const change = adoptedBy({ allow: ['https://*.example.com', here, { origin: 'http://localhost:*', tenants: [] }] });
    const worker = await bed.process('worker', change);
    expect(await worker.check(adopting(base_url), OPERATOR)).toEqual([
      {
        field: 'endpoint.base_url',
        code: 'not_allowed',
        message: "is outside of the target's allow list: https://*.example.com",
      },
    ]);
    expect(await worker.check(adopting(base_url), ACME)).toEqual([]);
    await want(worker, ACME, 'rev_1', adopting(base_url));
    await until('it to be published', async () => (await publishedAt(worker, 'rev_1'))?.length === 1);
    expect((await worker.published('rev_1'))[0]?.guard).toEqual({
      allow: ['https://*.example.com', 'http://127.0.0.1:*'],
    });
  });

  it('lose the adopted servers of a tenant that may no longer use them', async () => {
    const before = await bed.process('worker');
    await want(before, ACME, 'rev_1', adopting(base_url));
    await until('it to be published', async () => (await publishedAt(before, 'rev_1'))?.length === 1);
    await before.close();
    asked.length = 0;
    const after = await bed.process('worker', adoptedBy({ tenants: ['default'] }));
    await until('it to leave', async () => (await publishedAt(after, 'rev_1'))?.length === 0);
    expect(await rowOf(after, 'rev_1')).toMatchObject({ state: 'unhealthy', reason: 'not_allowed' });
    expect(asked).toEqual([]);
  });
});

describe("another tenant's instance", () => {
  const started = async (worker: InstancesProcess): Promise<URL> => {
    await want(worker, OPERATOR, 'rev_1', bed.spec());
    await worker.ready('rev_1');
    return new URL((await rowOf(worker, 'rev_1'))?.base_url ?? '');
  };

  it('cannot be adopted while it runs, however its address is written', async () => {
    const allow = ['http://127.0.0.1:*', 'http://localhost:*', 'http://[::1]:*'];
    const worker = await bed.process('worker', adoptedBy({ allow }));
    const { port } = await started(worker);
    // The same message as for an address that is not in the allow list.
    const [refusal] = await worker.check(adopting('http://elsewhere.example'), ACME);
    expect(refusal).toEqual({
      field: 'endpoint.base_url',
      code: 'not_allowed',
      message: `is outside of the target's allow list: ${allow.join(', ')}`,
    });
    for (const host of ['127.0.0.1', 'localhost', '[::1]'])
      expect(await worker.check(adopting(`http://${host}:${port}/v1`), ACME)).toEqual([refusal]);
    const spec = adopting(`http://127.0.0.1:${port}`);
    expect(await worker.instances.examine({ tenantId: ACME, revisionId: 'rev_2', spec })).toEqual({
      issues: [],
      message: expect.stringContaining("outside of the target's allow list"),
    });
    expect(await worker.check(adopting(`http://127.0.0.1:${Number(port) + 1}`), ACME)).toEqual([]);
    expect(await worker.check(adopting(`http://127.0.0.1:${port}`), OPERATOR)).toEqual([]);
    await worker.release('rev_1');
    await worker.retired('rev_1');
    expect(await worker.check(adopting(`http://127.0.0.1:${port}`), ACME)).toEqual([]);
  });

  it('ends the adoption of a server whose address it takes', async () => {
    const allow = ['http://127.0.0.1:*', 'http://localhost:*'];
    const worker = await bed.process('worker', adoptedBy({ allow }));
    const { port } = await started(worker);
    // As if it had been accepted earlier: nothing is checked here.
    await want(worker, ACME, 'rev_2', adopting(`http://127.0.0.1:${port}`));
    await want(worker, ACME, 'rev_3', adopting(`http://localhost:${port}`));
    for (const revision of ['rev_2', 'rev_3']) {
      await until(`${revision} to be refused`, async () => (await rowOf(worker, revision))?.state === 'unhealthy');
      expect(await rowOf(worker, revision)).toMatchObject({
        reason: 'not_allowed',
        message: "endpoint.base_url is outside of the target's allow list",
      });
      expect(await worker.published(revision)).toEqual([]);
    }
    // A server that two tenants adopt belongs to neither.
    await want(worker, ACME, 'rev_4', adopting(base_url));
    await want(worker, OPERATOR, 'rev_5', adopting(base_url));
    for (const revision of ['rev_4', 'rev_5'])
      await until(`${revision} to be ready`, async () => (await rowOf(worker, revision))?.state === 'ready');
  });
});

it('Slipway calls none of its own ports for a tenant, even if the target allows the address', async () => {
  const worker = await bed.process('worker', { ownPorts: [Number(new URL(base_url).port)] });
  await want(worker, OPERATOR, 'rev_1', adopting(base_url));
  await until('it to be told', async () => (await rowOf(worker, 'rev_1'))?.message?.includes('not allowed') === true);
  expect((await rowOf(worker, 'rev_1'))?.state).not.toBe('ready');
  expect(asked).toEqual([]);
});
