import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { openSecret } from '@slipway/platform-database';
import { runInRequest, type RequestContext } from '@slipway/platform-http';
import type { RevisionSpec } from '@slipway/contracts';
import { addOperation, TargetBed, until, workloadOf, type InstancesProcess } from '../../test/target-bed.js';
import { TargetsService } from '../targets/targets.service.js';

/** The status fields of a start, when none is in progress and none has failed. */
const NO_START = { failure: null, failedStarts: null, progress: null, startingSeconds: null };

let bed: TargetBed;
let api: InstancesProcess;

beforeEach(async () => {
  bed = await TargetBed.create(2);
  api = await bed.process('api');
});
afterEach(() => bed.dispose());

it('a process that runs no operations only writes what should run, and starts nothing', async () => {
  await api.want('rev_1', bed.spec());
  expect(await api.status('rev_1')).toEqual({
    desired: 1,
    ready: 0,
    alive: 0,
    restarts: 0,
    crashes: 0,
    message: null,
    reason: null,
    ...NO_START,
    baseUrls: [],
    isAsleep: false,
  });
  expect(await api.rows('rev_1')).toEqual([]);
});

it('a process knows how many devices an instance takes, by its spec and its engine', async () => {
  const [accelerator, target] = ['nvidia-l4', 'local'];
  const devices = (engine: string, resources?: RevisionSpec['resources']) =>
    api.instances.devices({ runtime: { target, engine }, ...(resources && { resources }) });
  expect(devices('mini')).toEqual({ accelerator: null, count: 0 });
  expect(devices('mini', { accelerator })).toEqual({ accelerator, count: 1 });
  expect(devices('mini', { accelerator, count: 3 })).toEqual({ accelerator, count: 3 });
  expect(devices('mini', { accelerator, count: 0 })).toEqual({ accelerator, count: 0 });
  expect(api.instances.devices({ runtime: { target: 'moon' }, resources: { accelerator } }).count).toBe(1);
});

it('the version of an engine follows its entry in the configuration', () => {
  const version = (engine?: string, target = 'local') =>
    api.instances.engineVersion({ runtime: { target, ...(engine !== undefined && { engine }) } });
  expect(version('mini')).toMatch(/^[0-9a-f]{64}$/);
  expect(version('mini')).toBe(version('mini'));
  expect(version('mini')).not.toBe(version('file'));
  for (const unknown of ['none', 'constructor', undefined]) expect(version(unknown)).toBeNull();
  expect(version('mini', 'moon')).toBeNull();
});

it('a check reports every reason why a spec cannot run', async () => {
  const issues = async (spec: RevisionSpec) => (await api.check(spec)).map(({ field, code }) => `${field} ${code}`);
  const { model, scaling } = bed.spec();
  const runtime = { target: 'local', engine: 'mini', args: {}, env: {} };
  expect(await issues(bed.spec())).toEqual([]);
  expect(await issues({ model, scaling, runtime: { ...runtime, target: 'moon' } })).toEqual(['runtime.target unknown']);
  expect(await issues({ model, scaling, runtime: { ...runtime, engine: 'none' } })).toEqual(['runtime.engine unknown']);
  expect(
    await issues({ model: { id: '-x' }, scaling: { min_replicas: 3 }, runtime: { ...runtime, args: { shell: 'x' } } }),
  ).toEqual(['model.id invalid_value', 'runtime.args.shell not_declared', 'scaling.min_replicas not_allowed']);
  expect(
    await issues({ model, scaling, runtime: { ...runtime, env: { API_KEY: { secret_ref: 'nobody' }, HOME: '/' } } }),
  ).toEqual(['runtime.env.HOME not_allowed', 'runtime.env.API_KEY unknown']);
  const endpoint = {
    base_url: 'http://10.0.0.1:80',
    protocol: 'openai' as const,
    health_path: '/health',
    credential_ref: 'nobody',
  };
  expect(await issues({ model, scaling, endpoint, runtime: { target: 'adopted', args: {}, env: {} } })).toEqual([
    'endpoint.base_url not_allowed',
    'endpoint.credential_ref unknown',
  ]);
});

it('a revision waits for capacity that others need, shows this, and starts when capacity becomes free', async () => {
  const worker = await bed.process('worker');
  const spec = bed.spec();
  for (const revision of ['rev_1', 'rev_2', 'rev_3']) await worker.want(revision, spec);
  await worker.ready('rev_1');
  await worker.ready('rev_2');
  await until('rev_3 to wait', async () => (await worker.status('rev_3'))?.reason === 'waiting_for_place');
  expect(await worker.status('rev_3')).toMatchObject({
    desired: 1,
    message: 'waiting for free capacity on target local',
  });

  // Workloads that are only kept warm are stopped, the longest first, and no more than necessary.
  await worker.retain('rev_2', 'warm', 3_600);
  await worker.retain('rev_1', 'warm', 3_600);
  // The first one that has no other retainer is stopped at once.
  for (const revision of ['rev_2', 'rev_1']) await worker.release(revision);
  await worker.ready('rev_3');
  expect((await worker.status('rev_2'))?.desired).toBe(0);
  expect((await worker.status('rev_1'))?.desired).toBe(1);
});

it('a forecast counts warm workloads as free, and the need of the deployment itself separately', async () => {
  const forecast = (deploymentId: string, revisionId?: string, replicas = 1) =>
    api.database.tx({ tenantId: 'ten_b' }, (tx) =>
      api.instances.forecastCapacity(tx, {
        tenantId: 'ten_b',
        deploymentId,
        ...(revisionId && { revisionId }),
        spec: bed.spec({}, { scaling: { min_replicas: replicas } }),
      }),
    );
  const local = { target: 'local', resource: 'place', total: 2, wanted: 0 };
  expect(await forecast('dep_2', undefined, 2)).toEqual({ ...local, replicas: 2, needed: 2, free: 2, own: 0 });
  await api.want('rev_1', bed.spec());
  expect(await forecast('dep_2')).toEqual({ ...local, replicas: 1, needed: 1, free: 1, own: 0 });
  expect(await forecast('dep_1')).toEqual({ ...local, replicas: 1, needed: 1, free: 1, own: 1 });
  expect(await forecast('dep_1', 'rev_1')).toEqual({ ...local, replicas: 1, needed: 1, free: 2, own: 0 });
  await api.retain('rev_1', 'warm', 3_600);
  await api.release('rev_1');
  expect(await forecast('dep_1')).toEqual({ ...local, replicas: 1, needed: 1, free: 2, own: 0 });
});

it('the worker that leads a target checks what a start would lack there, again at each request, for live operations', async () => {
  const owner = await bed.owner();
  for (const id of ['op_1', 'op_2']) await addOperation(owner, id);
  const modelFile = join(bed.home, 'tiny.gguf');
  const wish = { ...workloadOf('rev_1', bed.spec({}, { model: { id: 'tiny', uri: modelFile } })) };
  wish.spec = { ...wish.spec, runtime: { ...wish.spec.runtime, engine: 'file' } };
  const ask = (id: string) => api.database.tx('system', (tx) => api.instances.prepare(tx, wish, id));
  const found = (id: string) => api.database.tx('system', (tx) => api.instances.preparation(tx, 'rev_1', id));
  await ask('op_1');
  expect(await found('op_1')).toMatchObject({ state: 'asked', failure: null });
  const worker = await bed.process('worker');
  await until('it is looked for', async () => (await found('op_1'))?.state === 'failed');
  expect((await found('op_1'))?.failure).toMatchObject({ cause: 'model_missing' });
  await writeFile(modelFile, '');
  await ask('op_1');
  await until('it is there', async () => (await found('op_1'))?.state === 'ready');
  expect((await worker.database.read('system', 'select 1 from instances')).length).toBe(0);
  // The preparations of an operation that has ended are not checked, and the next request deletes them.
  await owner.query(`update operations set status = 'failed' where id = 'op_1'`);
  await ask('op_2');
  await until('the next is ready', async () => (await found('op_2'))?.state === 'ready');
  expect(await found('op_1')).toBeUndefined();
  await owner.end();
});

it('a suspended workload keeps its capacity while its operation lives, and the time of its start is measured', async () => {
  const targets = bed.config.operator.targets.map((target) => ({ ...target, max_instances: 1 }));
  const worker = await bed.process('worker', { operator: { ...bed.config.operator, targets } });
  const owner = await bed.owner();
  await addOperation(owner, 'op_2');
  await worker.want('rev_1', bed.spec());
  await worker.retain('rev_1', 'route');
  await worker.release('rev_1');
  await worker.ready('rev_1');
  const measured = await worker.database.tx('system', (tx) => worker.instances.startSeconds(tx, 'dep_1'));
  expect(measured).toBeGreaterThan(0);
  // It waits for capacity before any other workload can want what becomes free.
  await worker.want('rev_2', bed.spec(), 'operation:op_other');

  await worker.database.tx('system', (tx) => worker.instances.suspend(tx, 'rev_1', 'op_2'));
  await until('rev_1 to be gone', async () => (await worker.status('rev_1'))?.alive === 0);
  expect(await worker.status('rev_1')).toMatchObject({ desired: 0 });
  await worker.want('rev_3', bed.spec(), 'operation:op_2');
  await worker.ready('rev_3');
  expect(await worker.status('rev_2')).toMatchObject({ ready: 0, reason: 'waiting_for_place' });

  // No call resumes it: the end of the operation is enough.
  await worker.release('rev_3', 'operation:op_2');
  await owner.query(`update operations set status = 'failed' where id = 'op_2'`);
  await owner.end();
  expect(await worker.ready('rev_1')).toMatchObject([{ generation: 2, restarts: 0 }]);
  expect(await worker.status('rev_2')).toMatchObject({ ready: 0 });
});

it('an expired reason to retain has no effect', async () => {
  await api.want('rev_1', bed.spec());
  await api.retain('rev_1', 'warm', -0.001);
  expect((await api.status('rev_1'))?.desired).toBe(1);
  await api.release('rev_1');
  expect((await api.status('rev_1'))?.desired).toBe(0);
  // It does not take up capacity either.
  await api.want('rev_2', bed.spec({}, { scaling: { min_replicas: 2 } }));
  expect((await api.status('rev_2'))?.desired).toBe(2);
});

it('the successor of a workload starts only when that workload is gone', async () => {
  const worker = await bed.process('worker');
  const spec = bed.spec();
  await worker.want('rev_1', bed.spec({}, { scaling: { min_replicas: 2 } }));
  await worker.ready('rev_1', 2);
  await worker.retain('rev_1', 'warm', 3_600);
  await worker.release('rev_1');
  await worker.want('rev_2', spec);
  let most = 0;
  await until(
    'rev_2 to be ready',
    async () => {
      const [row] = await worker.database.read<{ running: number }>(
        'system',
        `select count(*)::int as running from instances where state not in ('pending', 'stopped')`,
      );
      most = Math.max(most, row?.running ?? 0);
      return (await worker.status('rev_2'))?.ready === 1;
    },
    undefined,
    20,
  );
  expect(most).toBe(2);
  await worker.retired('rev_1');
});

it('a tenant can neither retain nor release a workload of another tenant', async () => {
  await api.want('rev_1', bed.spec());
  await api.database.tx({ tenantId: 'ten_b' }, async (tx) => {
    await api.instances.retain(tx, 'rev_1', 'route');
    await api.instances.release(tx, 'rev_1', 'operation:op_1');
    expect(await api.instances.status(tx, 'rev_1')).toBeUndefined();
  });
  expect((await api.status('rev_1'))?.desired).toBe(1);
  await api.release('rev_1');
  expect((await api.status('rev_1'))?.desired).toBe(0);
});

it('engines get the values of secrets, and no table stores them', async () => {
  const worker = await bed.process('worker');
  const { runtime } = bed.spec();
  await worker.want('rev_1', bed.spec({}, { runtime: { ...runtime, env: { API_KEY: { secret_ref: 'key' } } } }));
  await worker.ready('rev_1');
  expect((await bed.starts())[0]?.key).toBe('sk-from-file');
  const stored = await worker.database.read<{ found: boolean }>(
    'system',
    `select (select string_agg(w::text, '') from workloads w) || (select string_agg(i::text, '') from instances i) like '%sk-from-file%' as found`,
  );
  expect(stored[0]?.found).toBe(false);

  await worker.want('rev_2', bed.spec({}, { runtime: { ...runtime, env: { API_KEY: { secret_ref: 'lost' } } } }));
  await until(
    'the lost secret to be told',
    async () => (await worker.status('rev_2'))?.message?.includes('secret lost') === true,
  );
  expect((await worker.status('rev_2'))?.restarts).toBe(0);
});

it('targets are listed without commands, addresses and secrets', async () => {
  await api.want('rev_1', bed.spec());
  const targets = api.context.get(TargetsService);
  const { configuration, ...page } = await targets.list(
    { tenantId: 'ten_a', tenantName: 'default', isOperatorTenant: true },
    { limit: 50 },
  );
  expect(page).toEqual({
    data: [
      {
        name: 'adopted',
        kind: 'endpoint',
        engines: [],
        capacity: { max_instances: null, in_use: 0, share: null },
        devices: [],
        status: 'ok',
        conditions: [],
        removed: false,
        unknown_units: [],
      },
      {
        name: 'local',
        kind: 'process',
        engines: [
          { name: 'mini', args: ['exit_code'], env: ['API_KEY'], declared: [{ name: 'exit_code', type: 'string' }] },
          { name: 'file', args: [], env: [], declared: [] },
        ],
        capacity: { max_instances: 2, in_use: 1, share: null },
        devices: [],
        status: 'ok',
        conditions: [],
        removed: false,
        unknown_units: [],
      },
    ],
    next_cursor: null,
  });
  expect(configuration).toEqual({ digest: null, loaded_at: expect.any(String), current: true, problems: [] });
  await runInRequest({ route: { operationId: 'listTargets' } } as unknown as RequestContext, async () => {
    expect(
      (await targets.list({ tenantId: 'ten_a', tenantName: 'default', isOperatorTenant: true }, { limit: 1 }))
        .next_cursor,
    ).not.toBeNull();
    expect(
      (
        await targets.list(
          { tenantId: 'ten_a', tenantName: 'default', isOperatorTenant: true },
          { limit: 1, cursor: ['adopted'] },
        )
      ).data.map(({ name }) => name),
    ).toEqual(['local']);
  });
});

it('an adopted server is published with its guard and sealed credential, followed as its health changes, and never restarted', async () => {
  let isWell = true;
  const asked: (string | undefined)[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request.headers.authorization);
    response.statusCode = isWell ? 200 : 500;
    response.end('{"choices":[]}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const worker = await bed.process('worker');
    await worker.want(
      'rev_1',
      bed.spec(
        {},
        {
          runtime: { target: 'adopted', args: {}, env: {} },
          scaling: { min_replicas: 3 },
          endpoint: { base_url, protocol: 'openai', health_path: '/health', credential_ref: 'key' },
        },
      ),
    );
    await worker.ready('rev_1');
    const [backend] = await worker.published('rev_1');
    expect(backend).toMatchObject({ guard: { allow: ['http://127.0.0.1:*'] }, instances: [{ base_url }] });
    expect(openSecret(bed.config.keyRing, backend?.credential ?? '', 'backend/ten_a/rev_1')).toBe('sk-from-file');
    expect(asked).toContain('Bearer sk-from-file');

    isWell = false;
    await until('it to be seen ill', async () => (await worker.published('rev_1'))[0]?.instances.length === 0);
    expect(await worker.instances.probe('rev_1')).toEqual({ answered: 0, asked: 0 });
    isWell = true;
    expect(await worker.ready('rev_1')).toMatchObject([{ generation: 1, restarts: 0 }]);
    await worker.release('rev_1');
    await worker.retired('rev_1');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
