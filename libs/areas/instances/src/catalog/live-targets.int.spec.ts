import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { OperatorSettings, type OperatorConfig, type TargetConfig } from '@slipway/platform-config';
import { QUICK_PROBES, TargetBed, until, type InstancesProcess } from '../../test/target-bed.js';
import { TargetsService } from '../targets/targets.service.js';

let bed: TargetBed;
let api: InstancesProcess;
let worker: InstancesProcess;
let initial: OperatorConfig;
let settings: Record<'api' | 'worker', OperatorSettings>;

/** Reads a configuration like a file, but without its grammar. */
const settingsOf = (config: OperatorConfig) =>
  OperatorSettings.of((text) => (text === undefined ? config : (JSON.parse(text) as OperatorConfig)), undefined);

beforeEach(async () => {
  bed = await TargetBed.create();
  initial = bed.config.operator;
  settings = { api: settingsOf(initial), worker: settingsOf(initial) };
  api = await bed.process('api', { operator: settings.api });
  worker = await bed.process('worker', { operator: settings.worker });
});
afterEach(() => bed.dispose());

/** Writes the operator's configuration, and both processes read it. */
function write(change: Partial<OperatorConfig>): void {
  const text = JSON.stringify({ ...initial, ...change });
  for (const each of [settings.api, settings.worker]) expect(each.offer(text)).toEqual([]);
}

const named = (name: string) => initial.targets.find((target) => target.name === name) as TargetConfig;
const without = (name: string) => ({ targets: initial.targets.filter((target) => target.name !== name) });
const pidsOf = async () => (await bed.starts()).map(({ pid }) => pid);
const listed = async () =>
  (
    await api.context
      .get(TargetsService)
      .list({ tenantId: 'ten_a', tenantName: 'default', isOperatorTenant: true }, { limit: 50 })
  ).data;
const REMOVED = /^execution target "local" was removed from the operator's configuration and starts no new instances/;

it('a target that is added runs instances at once, without a restart of any process', async () => {
  const spec = bed.spec({}, { runtime: { target: 'gpu', engine: 'mini', args: {}, env: {} } });
  expect(await api.check(spec)).toMatchObject([{ field: 'runtime.target', code: 'unknown' }]);
  write({ targets: [...initial.targets, { ...named('local'), name: 'gpu' }] });
  expect(await api.check(spec)).toEqual([]);
  await worker.want('rev_1', spec);
  await worker.ready('rev_1');
});

it('an engine that is added starts on a target whose instances continue', async () => {
  await worker.want('rev_1', bed.spec());
  await worker.ready('rev_1');
  const [before] = await worker.rows('rev_1');
  const { engines } = named('local') as TargetConfig & { engines: Record<string, object> };
  const changed = { ...named('local'), engines: { other: engines['mini'] } };
  write({ targets: [changed, named('adopted')] });
  const spec = bed.spec({}, { runtime: { target: 'local', engine: 'other', args: {}, env: {} } });
  await worker.want('rev_2', spec);
  await worker.ready('rev_2');
  expect(await worker.rows('rev_1')).toEqual([before]);
  expect(await api.check(bed.spec())).toMatchObject([{ field: 'runtime.engine', code: 'unknown' }]);
});

it('a higher limit gives capacity at the next check, and a lower one stops no instance', async () => {
  write({ targets: [{ ...named('local'), max_instances: 1 }, named('adopted')] });
  await worker.want('rev_1', bed.spec());
  await worker.ready('rev_1');
  await worker.want('rev_2', bed.spec());
  await until('rev_2 to wait', async () => (await worker.status('rev_2'))?.reason === 'waiting_for_place');
  write({ targets: [{ ...named('local'), max_instances: 2 }, named('adopted')] });
  await worker.ready('rev_2');
  write({ targets: [{ ...named('local'), max_instances: 1 }, named('adopted')] });
  expect([(await worker.ready('rev_1')).length, (await worker.ready('rev_2')).length]).toEqual([1, 1]);
});

describe('a target that is removed', () => {
  it('keeps its instances running and listed, and starts nothing new: not if wanted, not if checked, not after a crash', async () => {
    await worker.want('rev_1', bed.spec({}, { probes: QUICK_PROBES }));
    const [before] = await worker.ready('rev_1');
    write(without('local'));
    expect(await api.check(bed.spec())).toEqual([
      { field: 'runtime.target', code: 'unknown', message: expect.stringMatching(REMOVED) },
    ]);
    await expect(worker.want('rev_2', bed.spec())).rejects.toThrow(REMOVED);
    expect((await listed()).map(({ name, removed, capacity }) => [name, removed, capacity.in_use])).toEqual([
      ['adopted', false, 0],
      ['local', true, 1],
    ]);
    // Another operation wants what already runs.
    await worker.want('rev_1', bed.spec(), 'operation:op_2');
    expect(await worker.ready('rev_1')).toEqual([before]);
    const [pid] = await pidsOf();
    process.kill(pid as number, 'SIGKILL');
    await until('the refusal of another start', async () => {
      const [row] = await worker.rows('rev_1');
      return row?.state === 'backing_off' && /was removed from the operator's/.test(row.message ?? '');
    });
    expect(await pidsOf()).toEqual([pid]);
    write({});
    await worker.ready('rev_1');
    expect(await pidsOf()).toHaveLength(2);
  });

  it('still stops what is no longer wanted, and is then no longer listed', async () => {
    await worker.want('rev_1', bed.spec());
    await worker.ready('rev_1');
    write(without('local'));
    await worker.release('rev_1');
    await worker.retired('rev_1');
    expect((await listed()).map(({ name }) => name)).toEqual(['adopted']);
  });

  it('cannot come back as another kind, and the entire file is refused for it', async () => {
    const another = { name: 'local', kind: 'endpoint', allow: [] };
    const text = JSON.stringify({ ...initial, targets: [another], quotas: { webhooks: 1 } });
    expect(settings.worker.offer(text)).toEqual([expect.stringContaining('its kind cannot change from process to')]);
    expect([settings.worker.quotas, (await worker.check(bed.spec())).length]).toEqual([undefined, 0]);
  });
});

describe('an adopted server', () => {
  let server: Server;
  let origin: string;
  beforeEach(async () => {
    server = createServer((_request, response) => void response.end('{"choices":[]}')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });
  const adopting = (credential_ref?: string) =>
    bed.spec(
      {},
      {
        runtime: { target: 'adopted', args: {}, env: {} },
        probes: QUICK_PROBES,
        endpoint: {
          base_url: origin,
          protocol: 'openai',
          health_path: '/health',
          ...(credential_ref && { credential_ref }),
        },
      },
    );
  const guard = async () => (await worker.published('rev_1'))[0]?.guard;

  it('is published to gateways with the addresses that the target allows now', async () => {
    await worker.want('rev_1', adopting());
    await worker.ready('rev_1');
    expect(await guard()).toEqual({ allow: ['http://127.0.0.1:*'] });
    const before = await worker.rows('rev_1');
    write({ targets: [named('local'), { ...named('adopted'), allow: [origin] }] });
    await until('the new guard', async () => JSON.stringify(await guard()) === JSON.stringify({ allow: [origin] }));
    expect(await worker.rows('rev_1')).toEqual(before);
    write({ targets: [named('local'), { ...named('adopted'), allow: [] }] });
    await until('it to leave their sight', async () => (await worker.rows('rev_1'))[0]?.reason === 'not_allowed');
  });

  it('continues if its target is removed, as an engine does', async () => {
    await worker.want('rev_1', adopting());
    const [before] = await worker.ready('rev_1');
    let asked = 0;
    server.on('request', () => (asked += 1));
    write(without('adopted'));
    const until3 = asked + 3;
    await until('further looks', async () => asked >= until3);
    expect(await worker.rows('rev_1')).toEqual([before]);
  });

  it('gets a secret that was added later, and loses one that was removed', async () => {
    await worker.want('rev_1', adopting('fresh'));
    await until('the want of a secret', async () =>
      /no secret "fresh"/.test((await worker.rows('rev_1'))[0]?.message ?? ''),
    );
    write({ secrets: { ...initial.secrets, fresh: { file: `${bed.home}/key` } } });
    await worker.ready('rev_1');
    expect((await worker.published('rev_1'))[0]?.credential).not.toBeNull();
    write({});
    await until('it to leave their sight', async () => (await worker.published('rev_1'))[0]?.credential === null);
  });
});
