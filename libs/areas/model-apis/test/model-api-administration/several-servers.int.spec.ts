import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OperationRecord } from '@slipway/platform-durable/operations/testing';
import type { AdoptedServer } from '@slipway/ports/instances';
import { ADMIN, Administration, ignoring, IGNORING, refusing, soundAnswer, SupplierServer } from './administration.js';

let area: Administration;

beforeAll(async () => {
  area = await Administration.start();
});
afterAll(() => area?.stop());

const stateOf = (id: string): Promise<any> => area.bindings.get('ten_1', id);

describe('of several URLs', () => {
  const urlsOf = (upstreams: readonly SupplierServer[]) => upstreams.map(({ url }) => url);
  const models = (upstream: SupplierServer) => upstream.seen.filter(({ path }) => path === '/v1/models').length;
  const adopt = async (revision: string, urls: string[], known: AdoptedServer['model'][]) => {
    area.adoptedAt.set(revision, urls);
    area.servers.set(
      revision,
      known.map((model, at) => ({ instanceId: `ins_${at + 1}`, baseUrl: urls[at] ?? null, model })),
    );
    await area.revision(revision, urls);
    const { id: product_id } = await area.product();
    return (await area.bindings.create(ADMIN, { product_id, target: { deployment: 'dep', revision } })).body;
  };
  const stopped = (upstreams: readonly SupplierServer[]) => Promise.all(upstreams.map((one) => one.stop()));

  it('one that has another model keeps the binding from qualifying, and is named', async () => {
    for (const other of [
      await ignoring('large'),
      await SupplierServer.start(({ path, body }, response) => refusing(path, body, response)),
    ]) {
      const upstreams = [await ignoring('sim'), other];
      const binding = await adopt(`rev_${new URL(other.url).port}`, urlsOf(upstreams), ['unseen', 'unseen']);
      const record = await area.qualify(binding.id);
      expect(record).toMatchObject({ status: 'failed', error_code: 'validation_failed' });
      expect(record['message']).toContain(`${other.url}: `);
      expect(record['message']).not.toContain(upstreams[0]!.url);
      const { checks } = (await stateOf(binding.id)).qualification;
      expect(checks.find(({ result }: any) => result === 'failed').message).toContain(other.url);
      await stopped(upstreams);
    }
  });

  it('calls the unknown servers, and only one if all are known to have the model', async () => {
    const upstreams = [await SupplierServer.start(), await SupplierServer.start(), await SupplierServer.start()];
    const some = await adopt('rev_some', urlsOf(upstreams), ['seen', 'unseen', 'unseen']);
    expect(await area.qualify(some.id)).toMatchObject({ status: 'succeeded' });
    expect(upstreams.map(models)).toEqual([0, 1, 1]);
    const all = await adopt('rev_all', urlsOf(upstreams), ['seen', 'seen', 'seen']);
    expect(await area.qualify(all.id)).toMatchObject({ status: 'succeeded' });
    expect(upstreams.map(models)).toEqual([1, 1, 1]);
    await stopped(upstreams);
  });

  it('at most 32 are called, four at once', async () => {
    let [atOnce, most] = [0, 0];
    const upstream = await SupplierServer.start((request, response) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      setTimeout(() => {
        atOnce -= 1;
        soundAnswer(request, response);
      }, 20);
    });
    const urls = Array.from({ length: 40 }, () => upstream.url);
    const binding = await adopt(
      'rev_many',
      urls,
      urls.map(() => 'unseen'),
    );
    expect(await area.qualify(binding.id)).toMatchObject({ status: 'succeeded' });
    expect([models(upstream), most]).toEqual([32, 4]);
    await upstream.stop();
  });

  it('one whose model was swapped ends it at once, though another is ready, and is named', async () => {
    const upstream = await SupplierServer.start();
    const gone = 'http://127.0.0.1:9';
    const binding = await adopt('rev_swap', [upstream.url], ['seen']);
    area.servers.get('rev_swap')!.push({ instanceId: 'ins_2', baseUrl: gone, model: 'changed' });
    const record = await area.qualify(binding.id);
    expect(record).toMatchObject({ status: 'failed', error_code: 'target_not_ready' });
    expect(record['message']).toContain(`The model of ${gone} differs from the revision`);
    expect(upstream.seen).toEqual([]);
    await upstream.stop();
  });

  it('one whose model is swapped while they are called keeps the binding from qualifying', async () => {
    const upstream = await SupplierServer.start((request, response) => {
      area.servers.get('rev_late')![1]!.model = 'changed';
      soundAnswer(request, response);
    });
    const binding = await adopt('rev_late', [upstream.url, upstream.url], ['seen', 'seen']);
    expect(await area.qualify(binding.id)).toMatchObject({ status: 'failed', error_code: 'target_not_ready' });
    expect(await stateOf(binding.id)).toMatchObject({ state: 'unqualified' });
    await upstream.stop();
  });

  it('one that is down gets some time, and then the others count', async () => {
    const upstream = await SupplierServer.start();
    const binding = await adopt('rev_down', [upstream.url], ['seen']);
    area.servers.get('rev_down')!.push({ instanceId: 'ins_2', baseUrl: 'http://127.0.0.1:9', model: 'unseen' });
    const id = await area.begin(binding.id);
    /** Runs the operation as if this step had lasted that many seconds. */
    const driveAfter = async (seconds: number): Promise<OperationRecord> => {
      await area.harness.database.tx('system', (tx) =>
        tx.query(
          `update operation_steps set started_at = now() - make_interval(secs => $2) where operation_id = $1 and status = 'running'`,
          [id, seconds],
        ),
      );
      await area.harness.skipTime(id);
      await area.harness.runner.drive(id);
      return area.harness.record('ten_1', id);
    };
    await area.harness.runner.drive(id);
    // Leaves a busy machine five seconds for the drive.
    for (const seconds of [0, 5])
      expect(await driveAfter(seconds)).toMatchObject({ status: 'running', current_step: 'await_ready' });
    expect(upstream.seen).toEqual([]);
    expect(await driveAfter(10)).toMatchObject({ status: 'succeeded' });
    await upstream.stop();
  });
});

it('a binding shows if it leads to a server that now has another model', async () => {
  const { id: product_id } = await area.product();
  const target = { deployment: 'dep', revision: 'rev_drift' };
  const { body: binding } = await area.bindings.create(ADMIN, { product_id, target });
  expect(binding).toMatchObject({ drifted: false, qualification: { drifted_since: null } });
  area.drifted.set('rev_drift', '2026-01-01T00:00:00.000Z');
  const shown = { drifted: true, qualification: { drifted_since: '2026-01-01T00:00:00.000Z' } };
  expect(await stateOf(binding.id)).toMatchObject(shown);
  const { data } = await area.bindings.list(ADMIN, {}, { limit: 100 } as any);
  expect(data.filter(({ drifted }: any) => drifted)).toMatchObject([{ id: binding.id, ...shown }]);
  area.drifted.clear();
  expect(await stateOf(binding.id)).toMatchObject({ drifted: false });
});

it('an adopted server that answers to any name takes one revision, also when two are bound at once', async () => {
  const { id: product_id } = await area.product();
  const bind = (revision: string) =>
    area.bindings.create(ADMIN, { product_id, target: { deployment: 'dep', revision } });
  for (const [id, url] of [
    ['rev_a', 'http://127.0.0.1:9/v1'],
    ['rev_b', 'http://127.0.0.1:9'],
    ['rev_c', 'http://127.0.0.1:10'],
  ] as const) {
    area.traits.set(id, IGNORING);
    area.adoptedAt.set(id, url);
  }
  const both = await Promise.allSettled([bind('rev_a'), bind('rev_b')]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'server_already_bound' } });
  await bind('rev_c');
  // A server that refuses unknown models distinguishes the two by itself.
  area.traits.set('rev_d', { ...IGNORING, unknownModel: 'rejects' });
  area.adoptedAt.set('rev_d', 'http://127.0.0.1:9');
  await bind('rev_d');
});
