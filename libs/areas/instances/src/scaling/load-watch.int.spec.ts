import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { RevisionSpec } from '@slipway/contracts';
import type { OperatorConfig } from '@slipway/platform-config';
import type { ProcessTargetConfig } from '@slipway/target-process';
import { TargetBed, until, type InstancesProcess } from '../../test/target-bed.js';
import { EngineKeys } from '../access/engine-keys.js';
import { LoadWatch } from './load-watch.js';
import { Scaler } from './scaler.js';
import { TargetCatalog, type Target } from '../catalog/target-catalog.js';
import type { TargetLeadership } from '../catalog/target-leadership.js';

/**
 * Runs engines that report the text written by a test. They report it on a separate port, and only to clients with
 * their key.
 */
let bed: TargetBed;
/** Engines outlive their worker, so that only a test requests their load. */
let api: InstancesProcess;
let watch: LoadWatch;

const loadCheckMs = 200;
const SCALING = { min_replicas: 1, max_replicas: 4, target_in_flight: 2 };

beforeAll(async () => {
  bed = await TargetBed.create(4, { timings: { loadCheckMs } });
  await tell('');
  const worker = await bed.process('worker', { operator: operatorOf(bed) });
  await worker.want('rev_1', told(), 'route');
  await worker.ready('rev_1');
  await worker.close();
  api = await bed.process('api', { operator: operatorOf(bed) });
  watch = watchOf(true);
});
afterAll(() => bed?.dispose());
beforeEach(() => forget());

const tell = (text: string) => writeFile(join(bed.home, 'metrics'), text);
const told = (): RevisionSpec =>
  bed.spec({}, { runtime: { target: 'local', engine: 'told', args: {}, env: {} }, scaling: SCALING });
const forget = () => api.database.tx('system', (tx) => tx.query('delete from engine_loads'));
const noted = () =>
  api.database.read<{ waiting: number | null; kv_usage: number | null }>(
    'system',
    `select waiting, kv_usage from engine_loads where revision_id = 'rev_1'`,
  );
const watchOf = (leads: boolean) =>
  new LoadWatch(
    api.context.get(TargetCatalog).find('local') as Target,
    { leads } as TargetLeadership,
    api.database,
    api.context.get(EngineKeys),
    loadCheckMs,
  );

it.each<[string, string, object | undefined]>([
  ['one series', 'w 3\nk 0.5\n', { waiting: 3, kv_usage: 0.5 }],
  [
    'two series of one name',
    'w{model="a"} 3\nw{model="b"} 4\nk{m="a"} 0.25\nk{m="b"} 0.75',
    { waiting: 7, kv_usage: 0.75 },
  ],
  ['names that its template does not have', 'v 9\nww 9\nw_total 9\n', { waiting: null, kv_usage: null }],
  ['no numbers', 'w NaN\nw +Inf\nw 1e999\nw\nk x', { waiting: null, kv_usage: null }],
  ['negative numbers', 'w -4\nk -1', { waiting: null, kv_usage: null }],
  ['numbers that are too large', `w ${'9'.repeat(300)}\nk 55`, { waiting: 1_000_000, kv_usage: 1 }],
  ['bytes that are not text', '\0\u{10ffff}w 1\n\0', { waiting: null, kv_usage: null }],
  ['text without end', 'endless', undefined],
])('the report of an engine with %s leaves only plausible numbers for the scaler', async (_what, text, expected) => {
  await tell(text);
  await watch.look();
  expect(await noted()).toEqual(expected === undefined ? [] : [expected]);
});

it('requests that wait in an engine bring another instance, as long as the report is recent', async () => {
  const run = () => api.context.get(Scaler).run((scope, work) => api.database.tx(scope, work));
  const replicas = async () => (await api.status('rev_1'))?.desired;
  await tell('w 3');
  await watch.look();
  const age = `update engine_loads set observed_at = observed_at - interval '21 seconds' returning 1`;
  await api.database.read('system', age);
  await run();
  expect(await replicas()).toBe(1);
  await watch.look();
  await run();
  expect(await replicas()).toBe(3);
  const [event] = (await api.events()).filter(({ type }) => type === 'deployment.scaled');
  expect(event?.data).toMatchObject({ from: 1, to: 3, reason: 'waiting', waiting: 3, in_flight: 0 });
});

it('the load of a fixed number of instances is requested too, and the largest values of a minute are kept', async () => {
  const run = (sql: string) => api.database.tx('system', (tx) => tx.query(sql));
  await run(`delete from workload_scalings`);
  await run(`delete from dataplane_engine_peaks`);
  await run(`update workloads set spec = spec #- '{scaling,target_in_flight}'`);
  try {
    await tell('w 5\nk 0.5');
    await watch.look();
    await tell('w 2\nk 0.75');
    await watch.look();
    expect(await noted()).toEqual([{ waiting: 2, kv_usage: 0.75 }]);
    // The two looks may be on both sides of a change of the minute.
    const peaks =
      'select revision_id, max(waiting) as waiting, max(kv_usage) as kv_usage from dataplane_engine_peaks group by 1';
    expect(await run(peaks)).toEqual([{ revision_id: 'rev_1', waiting: 5, kv_usage: 0.75 }]);
  } finally {
    await run(`update workloads set spec = jsonb_set(spec, '{scaling,target_in_flight}', '2')`);
  }
});

it('the load of engines is not requested if another worker leads the target', async () => {
  await tell('w 3');
  await watchOf(false).look();
  expect(await noted()).toEqual([]);
});

it('the worker that leads the target requests the load on its own', async () => {
  await bed.process('worker', { operator: operatorOf(bed) });
  await tell('w 1');
  await until('it is noted', async () => (await noted()).some(({ waiting }) => waiting !== null));
});

function operatorOf({ config, home }: TargetBed): OperatorConfig {
  const [local, ...rest] = config.operator.targets as [ProcessTargetConfig, ...OperatorConfig['targets']];
  const { command = [] } = local.engines['mini'] ?? {};
  const engine = {
    command: [...command, '--metrics-port', '{port.metrics}', '--metrics-file', join(home, 'metrics')],
    ports: ['metrics'],
    env: { ENGINE_KEY: '{instance_key}' },
    ready: { path: '/health', timeout_seconds: 60 },
    metrics: { path: '/metrics', waiting: ['w', 'old:w'], kv_usage: 'k' },
  };
  const told: ProcessTargetConfig = { ...local, engines: { ...local.engines, told: engine } };
  return { ...config.operator, targets: [told, ...rest] };
}
