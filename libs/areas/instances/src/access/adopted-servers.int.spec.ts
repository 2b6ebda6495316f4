import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { RevisionSpec } from '@slipway/contracts';
import { QUICK_PROBES, TargetBed, until, type InstancesProcess } from '../../test/target-bed.js';

let bed: TargetBed;
let server: Server;
let base_url: string;
let status: number;
let listStatus: number;
let models: string[];
/** A second server, with the same model. */
let second: Server;
let secondUrl: string;
let secondStatus: number;
let asked: [string | undefined, string | undefined][];
/** When the health of the server was requested, and when it answered that it has only other models. */
let probedAt: number[];
let refutedAt: number[];

beforeEach(async () => {
  [status, listStatus, models, asked, probedAt, refutedAt] = [200, 200, ['tiny'], [], [], []];
  server = createServer((request, response) => {
    asked.push([request.url, request.headers.authorization]);
    const isList = request.url === '/v1/models';
    if (!isList) probedAt.push(Date.now());
    if (isList && !models.includes('tiny')) refutedAt.push(Date.now());
    response
      .writeHead(isList ? listStatus : status)
      .end(JSON.stringify({ data: isList ? models.map((id) => ({ id })) : [] }));
  });
  secondStatus = 200;
  second = createServer((request, response) =>
    response
      .writeHead(secondStatus)
      .end(JSON.stringify({ data: request.url === '/v1/models' ? [{ id: 'tiny' }] : [] })),
  );
  base_url = await listening(server);
  secondUrl = await listening(second);
  bed = await TargetBed.create(2);
});
afterEach(async () => {
  await bed.dispose();
  for (const one of [server, second]) {
    one.closeAllConnections();
    one.close();
  }
});

async function listening(one: Server): Promise<string> {
  await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(one.address() as AddressInfo).port}`;
}

const PROBES = { ...QUICK_PROBES, failure_threshold: 2 };
const publishedUrls = async (process: InstancesProcess) =>
  (await process.published('rev_1'))[0]?.instances.map((one) => one.base_url);

const adopting = (change: Partial<NonNullable<RevisionSpec['endpoint']>> = {}): RevisionSpec => ({
  ...bed.spec({}, { runtime: { target: 'adopted', args: {}, env: {} } }),
  endpoint: { base_url, protocol: 'openai', health_path: '/health', ...change },
});
const examine = (process: InstancesProcess, spec: RevisionSpec, tenantId = 'ten_a') =>
  process.instances.examine({ tenantId, revisionId: 'rev_1', spec });

it('the list of models is requested only from an adopted server, with the credential of its probes', async () => {
  const worker = await bed.process('worker');
  expect(await examine(worker, adopting({ credential_ref: 'key' }))).toEqual({
    issues: [],
    message: 'the server has tiny',
  });
  expect(asked).toEqual([['/v1/models', 'Bearer sk-from-file']]);
  models = ['large'];
  expect(await examine(worker, adopting())).toEqual({
    issues: [{ field: 'model.id', code: 'unknown', message: 'the server has no model of this name; it has: large' }],
  });
  expect(await examine(worker, bed.spec())).toEqual({ issues: [] });
});

it('nothing is sent for a tenant that may not call the server or use the secret', async () => {
  const worker = await bed.process('worker');
  const note = (text: string) => ({ issues: [], message: expect.stringContaining(text) });
  expect(await examine(worker, adopting({ base_url: 'http://10.0.0.1' }))).toEqual(note('outside'));
  expect(await examine(worker, adopting({ credential_ref: 'key' }), 'ten_b')).toEqual(note('has no secret "key"'));
  expect(await examine(worker, adopting({ credential_ref: 'lost' }))).toEqual(
    note('cannot determine whether the server has the model'),
  );
  expect(asked).toEqual([]);
});

it('a workload shows that its server does not have the health path, and each new status while the server is unhealthy', async () => {
  const worker = await bed.process('worker');
  const told = async () => {
    const found = await worker.status('rev_1');
    return `${found?.reason} ${found?.message}`;
  };
  const says = (what: string) => until(what, async () => (await told()).includes(what), told);
  status = listStatus = 404;
  // Slow enough to see each of its states.
  await worker.want('rev_1', { ...adopting(), probes: { ...PROBES, interval_seconds: 1 } });
  await says(`probe_failed ${base_url}/health returned 404: set endpoint.health_path`);
  await says(`health_path_missing ${base_url}/health returned 404: set endpoint.health_path`);
  status = 503;
  await says(`${base_url}/health returned 503`);
  status = 500;
  await says(`${base_url}/health returned 500`);
  status = 200;
  await worker.ready('rev_1');
});

describe('several URLs', () => {
  const both = (change: Partial<NonNullable<RevisionSpec['endpoint']>> = {}): RevisionSpec => ({
    ...adopting({ base_urls: [secondUrl], ...change }),
    probes: PROBES,
  });

  it('become one instance each, in their order; an unhealthy one is withdrawn alone and comes back', async () => {
    const worker = await bed.process('worker');
    expect(await worker.check(both())).toEqual([]);
    await worker.want('rev_1', both());
    const rows = await worker.ready('rev_1', 2);
    expect(rows.map((row) => row.base_url)).toEqual([base_url, secondUrl]);
    expect(await publishedUrls(worker)).toEqual([base_url, secondUrl]);
    const known = async () =>
      (await worker.database.tx('system', (tx) => worker.instances.adoptedServers(tx, 'rev_1'))).map(
        ({ baseUrl, model }) => [baseUrl, model],
      );
    expect(await known()).toEqual([
      [base_url, 'seen'],
      [secondUrl, 'seen'],
    ]);
    secondStatus = 500;
    await worker.ready('rev_1', 1);
    expect(await publishedUrls(worker)).toEqual([base_url]);
    secondStatus = 200;
    await worker.ready('rev_1', 2);
    expect(await publishedUrls(worker)).toEqual([base_url, secondUrl]);
    models = ['large'];
    await worker.ready('rev_1', 1);
    expect(await known()).toEqual([
      [base_url, 'changed'],
      [secondUrl, 'seen'],
    ]);
  });

  it('are checked one by one, before they are wanted and at each start', async () => {
    const worker = await bed.process('worker');
    const outside = { base_url: undefined, base_urls: [base_url, 'http://10.0.0.1'] };
    expect(await worker.check(both(outside))).toMatchObject([{ field: 'endpoint.base_urls[1]', code: 'not_allowed' }]);
    const odd = await worker.check({ ...both(), runtime: { target: 'adopted', engine: 'x', args: {}, env: {} } });
    expect(odd.map(({ field }) => field)).toEqual(['runtime.engine']);
    await worker.want('rev_1', both(outside));
    await worker.ready('rev_1', 1);
    expect(await publishedUrls(worker)).toEqual([base_url]);
    // Each retry hides the reason for a moment.
    const refused = async () => (await worker.rows('rev_1'))[1];
    await until(
      'the other to be refused',
      async () => {
        const { reason, message } = (await refused()) ?? {};
        return reason === 'start_failed' && message?.includes('outside') === true;
      },
      refused,
    );
  });

  it('are all checked for the model', async () => {
    const worker = await bed.process('worker');
    expect(await examine(worker, both())).toEqual({
      issues: [],
      message: `${base_url}: the server has tiny; ${secondUrl}: the server has tiny`,
    });
    models = ['large'];
    expect(await examine(worker, both())).toMatchObject({
      issues: [{ field: 'model.id', message: expect.stringContaining(`${base_url}: the server has no model`) }],
    });
  });
});

describe('a server whose model is swapped', () => {
  const about = async (worker: InstancesProcess) => (await worker.rows('rev_1'))[0];
  const drifted = async (worker: InstancesProcess) => {
    await until(
      'it to have drifted',
      async () => (await about(worker))?.reason === 'model_changed',
      () => about(worker),
    );
    return about(worker);
  };

  it('has drifted within one round of probes: it is withdrawn, reported once, and comes back with its model', async () => {
    const worker = await bed.process('worker');
    await worker.want('rev_1', { ...adopting(), probes: { ...PROBES, interval_seconds: 1 } });
    await worker.ready('rev_1');
    models = ['large'];
    const swappedAt = Date.now();
    expect(await drifted(worker)).toMatchObject({
      state: 'unhealthy',
      message: 'the server has another model now: it has large',
    });
    const [{ driftedAt } = { driftedAt: new Date() }] = await worker.database.read<{ driftedAt: Date }>(
      'system',
      `select state_since as "driftedAt" from instances where revision_id = 'rev_1'`,
    );
    // A round that had begun may end without a list. The next one requests the list, and its first answer is enough.
    // Postgres's time is cut to milliseconds here, so the refusal may have the same time.
    const duringSwap = (at: number) => at >= swappedAt && at <= driftedAt.getTime();
    expect(probedAt.filter(duringSwap).length).toBeLessThanOrEqual(2);
    expect(refutedAt.filter(duringSwap)).toHaveLength(1);
    expect(await publishedUrls(worker)).toEqual([]);
    const since = () =>
      worker.database.tx({ tenantId: 'ten_a' }, (tx) => worker.instances.driftedSince(tx, ['rev_1', 'rev_2']));
    expect([...(await since()).keys()]).toEqual(['rev_1']);
    models = ['tiny'];
    await worker.ready('rev_1');
    expect(await since()).toEqual(new Map());
    const types = (await worker.events()).map(({ type }) => type);
    expect(types).toEqual(['instance.ready', 'instance.drifted', 'instance.ready']);
  });

  it('has drifted also if the next worker finds it so, or if the server was unreachable in between', async () => {
    const first = await bed.process('worker');
    await first.want('rev_1', { ...adopting(), probes: PROBES });
    await first.ready('rev_1');
    status = 503;
    await until('it to be ill', async () => (await about(first))?.state === 'unhealthy');
    await first.close();
    [models, status] = [['large'], 200];
    const next = await bed.process('worker');
    await drifted(next);
    expect(await publishedUrls(next)).toEqual([]);
    const types = (await next.events()).map(({ type }) => type);
    expect(types).toEqual(['instance.ready', 'instance.unhealthy', 'instance.drifted']);
  });

  it('has drifted at once under a new worker too, although a missed probe would be tolerated', async () => {
    const patient = { ...PROBES, failure_threshold: 1_000 };
    const first = await bed.process('worker');
    await first.want('rev_1', { ...adopting(), probes: patient });
    await first.ready('rev_1');
    await first.close();
    models = ['large'];
    await drifted(await bed.process('worker'));
  });

  it('stays withdrawn under the next worker if it then lists nothing, until it has its model again', async () => {
    const first = await bed.process('worker');
    await first.want('rev_1', { ...adopting(), probes: PROBES });
    await first.ready('rev_1');
    models = ['large'];
    await drifted(first);
    await first.close();
    listStatus = 404;
    const next = await bed.process('worker');
    const looks = asked.length;
    await until('it to be probed', async () => asked.length > looks + 4);
    expect([(await about(next))?.reason, await publishedUrls(next)]).toEqual(['model_changed', []]);
    [models, listStatus] = [['tiny'], 200];
    await next.ready('rev_1');
  });

  it('keeps serving if it never listed the model, like servers that accept any name', async () => {
    const worker = await bed.process('worker');
    models = ['/srv/models/tiny.gguf'];
    await worker.want('rev_1', { ...adopting(), probes: PROBES });
    await worker.ready('rev_1');
    const looks = asked.length;
    await until('it to be asked more', async () => asked.length > looks + 4);
    expect((await about(worker))?.state).toBe('ready');
    const servers = await worker.database.tx('system', (tx) => worker.instances.adoptedServers(tx, 'rev_1'));
    expect(servers.map(({ model }) => model)).toEqual(['unseen']);
  });
});
