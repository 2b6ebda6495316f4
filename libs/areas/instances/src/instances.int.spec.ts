import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { openSecret } from '@slipway/platform-database';
import { runInRequest, type RequestContext } from '@slipway/platform-http';
import type { RevisionSpec } from '@slipway/contracts';
import { TargetBed, until, workloadOf, type Process } from '../test/target-bed.js';
import { TargetsService } from './targets.service.js';

jest.setTimeout(60_000);

let bed: TargetBed;
let api: Process;

beforeEach(async () => {
  bed = await TargetBed.create(2);
  api = await bed.process('api');
});
afterEach(() => bed.dispose());

it('only writes what should be: a process that runs no operations starts nothing', async () => {
  await api.want('rev_1', bed.spec());
  expect(await api.status('rev_1')).toEqual({
    desired: 1,
    ready: 0,
    alive: 0,
    restarts: 0,
    message: null,
    baseUrls: [],
  });
  expect(await api.rows('rev_1')).toEqual([]);
});

it('names every reason why a spec cannot run', () => {
  const issues = (spec: RevisionSpec) =>
    api.instances.check('ten_a', spec).map(({ field, code }) => `${field} ${code}`);
  const { model, scaling } = bed.spec();
  const runtime = { target: 'local', engine: 'mini', args: {}, env: {} };
  expect(issues(bed.spec())).toEqual([]);
  expect(issues({ model, scaling, runtime: { ...runtime, target: 'moon' } })).toEqual(['runtime.target unknown']);
  expect(issues({ model, scaling, runtime: { ...runtime, engine: 'none' } })).toEqual(['runtime.engine unknown']);
  expect(
    issues({ model: { id: '-x' }, scaling: { min_replicas: 3 }, runtime: { ...runtime, args: { shell: 'x' } } }),
  ).toEqual(['model.id invalid_value', 'runtime.args.shell not_declared', 'scaling.min_replicas not_allowed']);
  expect(
    issues({ model, scaling, runtime: { ...runtime, env: { API_KEY: { secret_ref: 'nobody' }, HOME: '/' } } }),
  ).toEqual(['runtime.env.HOME not_allowed', 'runtime.env.API_KEY unknown']);
  const endpoint = {
    base_url: 'http://10.0.0.1:80',
    protocol: 'openai' as const,
    health_path: '/health',
    credential_ref: 'nobody',
  };
  expect(issues({ model, scaling, endpoint, runtime: { target: 'adopted', args: {}, env: {} } })).toEqual([
    'endpoint.base_url not_allowed',
    'endpoint.credential_ref unknown',
  ]);
});

it('counts places over all tenants, gives up the longest warm workload first, and refuses when routes and operations need all', async () => {
  const spec = bed.spec();
  await api.want('rev_1', spec);
  await api.want('rev_2', spec);
  await expect(api.want('rev_3', spec)).rejects.toMatchObject({
    code: 'capacity_exhausted',
    options: { retryable: true },
  });
  expect(await api.status('rev_3')).toBeUndefined();

  await api.hold('rev_2', 'warm', 3_600);
  await api.hold('rev_1', 'warm', 3_600);
  for (const revision of ['rev_1', 'rev_2']) await api.release(revision);
  await api.want('rev_3', spec);
  expect((await api.status('rev_2'))?.desired).toBe(0);
  expect((await api.status('rev_1'))?.desired).toBe(1);

  await api.hold('rev_1', 'route');
  await expect(api.want('rev_2', spec)).rejects.toMatchObject({ code: 'capacity_exhausted' });
  expect((await api.status('rev_1'))?.desired).toBe(1);
  // What has a place already keeps it, whoever else wants it too.
  await api.want('rev_3', spec, 'operation:op_2');
  expect((await api.status('rev_3'))?.desired).toBe(1);
});

it('answers two wishes for the last place one after the other', async () => {
  const spec = bed.spec();
  await api.want('rev_1', spec);
  let commit = (): void => undefined;
  const isDecided = new Promise<void>((resolve) => (commit = resolve));
  let hasWished = (): void => undefined;
  const isWished = new Promise<void>((resolve) => (hasWished = resolve));
  const first = api.database.tx('system', async (tx) => {
    await api.instances.want(tx, workloadOf('rev_2', spec), 'operation:op_2');
    hasWished();
    await isDecided;
  });
  await isWished;
  let answer = 'none yet';
  const second = api.want('rev_3', spec).then(
    () => (answer = 'yes'),
    (refusal: { code: string }) => (answer = refusal.code),
  );
  const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  const isWaiting = async () => (await api.database.read('system', waiting)).length > 0;
  await until('the second wish to wait for the first', async () => answer !== 'none yet' || (await isWaiting()));
  commit();
  await Promise.all([first, second]);
  expect(answer).toBe('capacity_exhausted');
  const wishes = await Promise.allSettled([4, 5, 6].map((number) => api.want(`rev_${number}`, spec)));
  expect(wishes.filter(({ status }) => status === 'fulfilled')).toEqual([]);
});

it('gives up no more than it needs, and nothing where that would not be enough', async () => {
  const roomy = await TargetBed.create(4);
  try {
    const host = await roomy.process('api');
    const of = (replicas: number) => roomy.spec({}, { scaling: { min_replicas: replicas } });
    await host.want('rev_1', of(2));
    await host.want('rev_2', of(1));
    await host.want('rev_3', of(1));
    for (const revision of ['rev_1', 'rev_2']) {
      await host.hold(revision, 'warm', 3_600);
      await host.release(revision);
    }
    await expect(host.want('rev_4', of(4))).rejects.toMatchObject({ code: 'capacity_exhausted' });
    const desired = async (...revisions: string[]) =>
      Promise.all(revisions.map(async (revision) => (await host.status(revision))?.desired));
    expect(await desired('rev_1', 'rev_2')).toEqual([2, 1]);
    await host.want('rev_4', of(2));
    expect(await desired('rev_1', 'rev_2', 'rev_3', 'rev_4')).toEqual([0, 1, 1, 2]);
  } finally {
    await roomy.dispose();
  }
});

it('takes a hold whose time is over for none', async () => {
  await api.want('rev_1', bed.spec());
  await api.hold('rev_1', 'warm', -0.001);
  expect((await api.status('rev_1'))?.desired).toBe(1);
  await api.release('rev_1');
  expect((await api.status('rev_1'))?.desired).toBe(0);
  // Nor does it take a place.
  await api.want('rev_2', bed.spec({}, { scaling: { min_replicas: 2 } }));
  expect((await api.status('rev_2'))?.desired).toBe(2);
});

it('starts the successor only when the one that gave way is gone', async () => {
  const worker = await bed.process('worker');
  const spec = bed.spec();
  await worker.want('rev_1', bed.spec({}, { scaling: { min_replicas: 2 } }));
  await worker.ready('rev_1', 2);
  await worker.hold('rev_1', 'warm', 3_600);
  await worker.release('rev_1');
  await worker.want('rev_2', spec);
  let most = 0;
  await until('rev_2 to be ready', async () => {
    const [row] = await worker.database.read<{ running: number }>(
      'system',
      `select count(*)::int as running from instances where state not in ('pending', 'stopped')`,
    );
    most = Math.max(most, row?.running ?? 0);
    return (await worker.status('rev_2'))?.ready === 1;
  });
  expect(most).toBe(2);
  await worker.retired('rev_1');
});

it('keeps holds within their tenant', async () => {
  await api.want('rev_1', bed.spec());
  await api.database.tx({ tenantId: 'ten_b' }, async (tx) => {
    await api.instances.hold(tx, 'rev_1', 'route');
    await api.instances.release(tx, 'rev_1', 'operation:op_1');
    expect(await api.instances.status(tx, 'rev_1')).toBeUndefined();
  });
  expect((await api.status('rev_1'))?.desired).toBe(1);
  await api.release('rev_1');
  expect((await api.status('rev_1'))?.desired).toBe(0);
});

it('gives engines the values of secrets and stores none', async () => {
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

it('shows targets without commands, addresses and secrets', async () => {
  await api.want('rev_1', bed.spec());
  const targets = api.context.get(TargetsService);
  const page = await targets.list({ limit: 50 });
  expect(page).toEqual({
    data: [
      { name: 'adopted', kind: 'endpoint', engines: [], capacity: { max_instances: null, in_use: 0 } },
      {
        name: 'local',
        kind: 'process',
        engines: [{ name: 'mini', args: ['exit_code'], env: ['API_KEY'] }],
        capacity: { max_instances: 2, in_use: 1 },
      },
    ],
    next_cursor: null,
  });
  await runInRequest({ route: { operationId: 'listTargets' } } as unknown as RequestContext, async () => {
    expect((await targets.list({ limit: 1 })).next_cursor).not.toBeNull();
    expect((await targets.list({ limit: 1, cursor: ['adopted'] })).data.map(({ name }) => name)).toEqual(['local']);
  });
});

it('adopts a server: published under guard with its sealed credential, followed up and down, never restarted', async () => {
  let isWell = true;
  const asked: (string | undefined)[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request.headers.authorization);
    response.statusCode = isWell ? 200 : 500;
    response.end();
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
    expect(openSecret(Buffer.alloc(32), backend?.credential ?? '')).toBe('sk-from-file');
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
