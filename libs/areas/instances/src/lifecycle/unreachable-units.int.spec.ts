import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { OperatorSettings, type OperatorConfig, type TargetConfig } from '@slipway/platform-config';
import { isAlive, TargetBed, until, type InstancesProcess } from '../../test/target-bed.js';
import { TargetsService } from '../targets/targets.service.js';

const OPERATOR = { tenantId: 'ten_a', tenantName: 'default', isOperatorTenant: true };

let bed: TargetBed;
let api: InstancesProcess;
let initial: OperatorConfig;
let newHome: string;
beforeEach(async () => {
  bed = await TargetBed.create(4, { timings: { orphanSearchMs: 200 } });
  initial = bed.config.operator;
  api = await bed.process('api');
  newHome = await mkdtemp(join(tmpdir(), 'slipway-area-instances-'));
});
afterEach(async () => {
  await bed.dispose();
  await rm(newHome, { recursive: true, force: true });
});

const local = () => initial.targets[0] as TargetConfig;
const named = (name: string) => ({ ...local(), name });
/** A worker that starts with another file. */
const workerWith = (change: Partial<OperatorConfig>, home = bed.home) =>
  bed.process('worker', { home, operator: OperatorSettings.fixed({ ...initial, ...change }) });
const listed = async (by = api) => (await by.context.get(TargetsService).list(OPERATOR, { limit: 50 })).data;
const madeAt = (revisionId: string) =>
  api.database.read<{ made_at: unknown }>('system', 'select made_at from instances where revision_id = $1', [
    revisionId,
  ]);
const pids = async () => (await bed.starts()).map(({ pid }) => pid);

/** An engine that its worker has left running. */
async function running(): Promise<{ id: string; pid: number }> {
  const worker = await bed.process('worker');
  await worker.want('rev_1', bed.spec());
  const [{ id } = { id: '' }] = await worker.ready('rev_1');
  await worker.close();
  const [pid = 0] = await pids();
  return { id, pid };
}

it('the location of a unit is stored before it is made, and stays when it has stopped', async () => {
  const child = await bed.child({ pausePoint: 'targets:provision.before_spawn' } as object);
  let said = '';
  child.stderr?.on('data', (chunk) => (said += String(chunk)));
  await api.want('rev_1', bed.spec());
  await until('the worker to stand still', async () => said.includes('paused at'));
  child.kill('SIGKILL');
  expect(await pids()).toEqual([]);
  expect(await madeAt('rev_1')).toEqual([{ made_at: [{ kind: 'process', home: bed.home }] }]);
  const worker = await bed.process('worker');
  await worker.ready('rev_1');
  await worker.release('rev_1');
  await worker.retired('rev_1');
  expect(await madeAt('rev_1')).toEqual([{ made_at: [{ kind: 'process', home: bed.home }] }]);
});

it('an instance that the previous release started gets its location', async () => {
  const worker = await bed.process('worker');
  await worker.want('rev_1', bed.spec());
  await worker.ready('rev_1');
  const owner = await bed.owner();
  await owner.query('update instances set made_at = null, version = version + 1');
  await owner.end();
  await until('its location', async () => (await madeAt('rev_1'))[0]?.made_at !== null);
  expect(await pids()).toHaveLength(1);
});

describe('a file that would leave units without a driver', () => {
  it.each<[string, () => Partial<OperatorConfig>, RegExp]>([
    ['no longer names the target', () => ({ targets: [initial.targets[1]!] }), /the file no longer names the target/],
    ['renames the target', () => ({ targets: [named('renamed'), initial.targets[1]!] }), /no longer names the target/],
    [
      'changes the kind of the target',
      () => ({ targets: [{ name: 'local', kind: 'endpoint', allow: [] }] }),
      /made by a target of kind process, and the target now has kind endpoint/,
    ],
  ])('is refused at start if it %s, with the instances and what to do', async (_what, change, why) => {
    const { id, pid } = await running();
    const refused = workerWith(change());
    await expect(refused).rejects.toThrow(why);
    await expect(refused).rejects.toThrow(`${id} of chat-1 on target local`);
    await expect(refused).rejects.toThrow('abandoned_targets: [local]');
    await expect(refused).rejects.toMatchObject({ exitCode: 78 });
    expect(isAlive(pid)).toBe(true);
    // The previous file continues.
    const worker = await workerWith({});
    await worker.release('rev_1');
    await worker.retired('rev_1');
    expect(isAlive(pid)).toBe(false);
    // Nothing is left that the file must name.
    await workerWith(change());
  });

  it('is refused at start if it no longer names the target of an adopted server', async () => {
    const worker = await bed.process('worker');
    const endpoint = { base_url: 'http://127.0.0.1:9', protocol: 'openai' as const, health_path: '/health' };
    await worker.want('rev_1', bed.spec({}, { runtime: { target: 'adopted', args: {}, env: {} }, endpoint }));
    await until('its row', async () => (await madeAt('rev_1'))[0]?.made_at != null);
    expect(await madeAt('rev_1')).toEqual([{ made_at: [{ kind: 'endpoint', url: 'http://127.0.0.1:9' }] }]);
    await worker.close();
    await expect(workerWith({ targets: [local()] })).rejects.toThrow(/on target adopted: the file no longer names/);
    const next = await workerWith({ targets: [{ ...initial.targets[1]!, allow: [] } as TargetConfig, local()] });
    await next.release('rev_1');
    await next.retired('rev_1');
  });

  it('is accepted if nothing ever ran, and after the instances have ended', async () => {
    await workerWith({ targets: [named('renamed')] });
  });

  it('is accepted if the operator gives the units up, which their rows and events then show', async () => {
    const { id, pid } = await running();
    await api.release('rev_1');
    const worker = await workerWith({ targets: [initial.targets[1]!], abandoned_targets: ['local'] });
    await worker.retired('rev_1');
    expect(await worker.rows('rev_1')).toMatchObject([
      { id, state: 'stopped', message: 'the operator has given up its unit, which may still run' },
    ]);
    expect((await worker.events()).at(-1)).toMatchObject({ type: 'instance.abandoned', data: { instance_id: id } });
    expect(isAlive(pid)).toBe(true);
  });

  it('does not keep instances that were never started', async () => {
    await api.want('rev_1', bed.spec());
    const first = await workerWith({ targets: [{ ...local(), max_instances: 0 } as TargetConfig] });
    await until('it to wait', async () => (await api.status('rev_1'))?.reason === 'waiting_for_place');
    await first.close();
    await api.release('rev_1');
    const worker = await workerWith({ targets: [named('renamed')] });
    await worker.retired('rev_1');
    expect(await worker.rows('rev_1')).toMatchObject([{ state: 'stopped' }]);
  });

  it('gives up nothing that the file still reaches', async () => {
    const { pid } = await running();
    const worker = await workerWith({ abandoned_targets: ['local'] });
    await until('the engine to be observed', async () => (await worker.ready('rev_1')).length === 1);
    expect(isAlive(pid)).toBe(true);
    expect((await worker.events()).map(({ type }) => type)).not.toContain('instance.abandoned');
  });
});

it('the api shows the target that the file no longer names, and which revisions need it', async () => {
  await running();
  const other = await bed.process('api', {
    operator: OperatorSettings.fixed({ ...initial, targets: [named('renamed')] }),
  });
  expect((await listed(other)).map(({ name, removed, conditions }) => [name, removed, conditions])).toEqual([
    [
      'local',
      true,
      [
        {
          type: 'not_configured',
          message: expect.stringContaining(
            '1 instance is not known to have ended there, of chat-1. Put the target back',
          ),
        },
      ],
    ],
    ['renamed', false, []],
  ]);
  const others = await other.context.get(TargetsService).list({ ...OPERATOR, isOperatorTenant: false }, { limit: 50 });
  expect(others.data.map(({ name }) => name)).toEqual(['renamed']);
});

it('an engine is continued from another SLIPWAY_HOME, and stopped in the earlier one', async () => {
  const { pid } = await running();
  const worker = await workerWith({}, newHome);
  await worker.ready('rev_1');
  expect(await pids()).toEqual([pid]);
  await worker.release('rev_1');
  await worker.retired('rev_1');
  expect(isAlive(pid)).toBe(false);
});

it('an engine in an earlier home that no row wants is stopped', async () => {
  const { pid } = await running();
  const owner = await bed.owner();
  // A dump that is older than the start.
  await owner.query(`update instances set state = 'stopped', version = version + 1`);
  await owner.query(`delete from workload_holds`);
  await owner.end();
  await workerWith({}, newHome);
  await until('the engine to end', async () => !isAlive(pid));
});

describe('what a deletion waits for', () => {
  const unended = () => api.database.tx('system', (tx) => api.instances.unended(tx, 'dep_1'));

  it('is named with its target, also if the file does not name that', async () => {
    const { id } = await running();
    expect(await unended()).toEqual([]);
    await api.release('rev_1');
    expect(await unended()).toEqual([{ id, target: 'local', why: 'it is stopping' }]);
    const other = await bed.process('api', { operator: OperatorSettings.fixed({ ...initial, targets: [] }) });
    expect(await other.database.tx('system', (tx) => other.instances.unended(tx, 'dep_1'))).toEqual([
      { id, target: 'local', why: "the operator's file does not name the target" },
    ]);
  });
});

it('engines of a target that the file does not name, and that no row knows, are listed with a command', async () => {
  const { pid } = await running();
  const owner = await bed.owner();
  await owner.query('delete from workloads');
  await owner.end();
  const worker = await workerWith({ targets: [named('renamed'), initial.targets[1]!] });
  await until('the record', async () => (await listed(worker)).some((one) => one.unknown_units.length > 0));
  expect(await listed(worker)).toMatchObject([
    { name: 'adopted', unknown_units: [], status: 'ok' },
    {
      name: 'renamed',
      status: 'degraded',
      conditions: [{ type: 'unknown_units', message: expect.stringContaining(`kill ${pid}`) }],
      unknown_units: [{ target: 'local', count: 1, running: 1, command: `kill ${pid}` }],
    },
  ]);
  const tenant = { tenantId: 'ten_b', tenantName: 'acme', isOperatorTenant: false };
  expect((await worker.context.get(TargetsService).list(tenant, { limit: 50 })).data).toMatchObject([
    { unknown_units: [], conditions: [] },
    { unknown_units: [], conditions: [] },
  ]);
  process.kill(pid, 'SIGKILL');
  await until('the end of the record', async () =>
    (await listed(worker)).every((one) => one.unknown_units.length === 0),
  );
});
