import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { loadConfig } from '@slipway/platform-config';
import type { TargetKind } from '@slipway/target-driver';
import { onDemand } from './on-demand.js';
import { TARGETS } from './targets.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const ENV = { DATABASE_URL: 'postgres://unused', SLIPWAY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') };
const CLUSTER = `targets:
  - name: gpu
    kind: kubernetes
    cluster: in-cluster
    namespaces: {default: models}
    engines: {sim: {image: "registry.example/sim:1", command: [sim, --port, "{port}"], port: 8000}}
`;

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(path.join(tmpdir(), 'slipway-on-demand-'));
});
afterEach(() => rm(cwd, { recursive: true }));

/** Notes the address of each loaded module. It writes to a file, which is never full; a full pipe would refuse them. */
const HOOK = `
import { register } from 'node:module';
register('data:text/javascript,' + encodeURIComponent(\`
  import { appendFileSync } from 'node:fs';
  export async function load(url, context, next) {
    appendFileSync(process.env.MODULES_FILE, url + '\\\\n');
    return next(url, context);
  }\`));
`;
/** The start of api and worker: all areas, the kinds of targets, the operator's file. */
const PROGRAM = `
import { loadConfig, loadKinds } from '@slipway/platform-config';
import '@slipway/registry';
import { TARGETS } from '@slipway/registry/targets';
await loadKinds(TARGETS, process.env, process.env.OPERATOR_FOLDER);
const { operator } = loadConfig(process.env, process.env.OPERATOR_FOLDER, { targets: TARGETS });
console.log('kinds ' + operator.targets.map(({ kind }) => kind).join());
`;

interface ProcessReport {
  kinds: string | undefined;
  ofKubernetes: string[];
  ofQueue: string[];
  modules: number;
}

/** Starts a process of its own with that file. */
async function started(file?: string): Promise<ProcessReport> {
  const folder = await mkdtemp(path.join(cwd, 'operator-'));
  if (file !== undefined) await writeFile(path.join(folder, 'slipway.config.yaml'), file);
  const asData = (text: string) => `data:text/javascript,${encodeURIComponent(text)}`;
  const modules = path.join(folder, 'modules');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--no-warnings', '--import', asData(HOOK), '--input-type=module', '--eval', PROGRAM],
    {
      cwd: ROOT,
      maxBuffer: 2 ** 24,
      env: { ...ENV, PATH: process.env['PATH'], OPERATOR_FOLDER: folder, MODULES_FILE: modules },
    },
  );
  const lines = (await readFile(modules, 'utf8')).split('\n');
  return {
    kinds: stdout.split('\n').find((line) => line.startsWith('kinds ')),
    ofKubernetes: lines.filter((line) => line.includes('libs/targets/kubernetes/')),
    ofQueue: lines.filter((line) => /node_modules\/(bullmq|ioredis)\//.test(line)),
    modules: lines.filter((line) => line.startsWith('file:')).length,
  };
}

jest.setTimeout(120_000);

it('a process loads no module of Kubernetes without a target of that kind, and none of a queue', async () => {
  const [without, other] = await Promise.all([started(), started('targets: [{name: far, kind: endpoint, allow: []}]')]);
  expect(without).toMatchObject({ kinds: 'kinds process,endpoint', ofKubernetes: [], ofQueue: [] });
  expect(without.modules).toBeGreaterThan(100);
  expect(other).toMatchObject({ kinds: 'kinds endpoint,process,endpoint', ofKubernetes: [] });
});

it('a process loads the modules of Kubernetes for a file that has such a target', async () => {
  const { kinds, ofKubernetes } = await started(CLUSTER);
  expect(kinds).toBe('kinds kubernetes,process,endpoint');
  expect(ofKubernetes.length).toBeGreaterThan(10);
});

it('a file that was read without its code reports the cause', () => {
  const kinds = [onDemand('moon', async () => TARGETS[0]!)];
  expect(() => kinds[0]!.read({} as never, 'targets[0]', {})).toThrow(
    'the code for targets of kind moon is not loaded',
  );
  expect(() => kinds[0]!.schema).toThrow('the code for targets of kind moon is not loaded');
});

it('a kind is loaded once, and its load is retried after a failure', async () => {
  const real = { kind: 'moon', schema: { properties: { rover: {} } }, maxInstances: 3 } as unknown as TargetKind;
  const load = jest.fn(async () => real).mockRejectedValueOnce(new Error('no disk'));
  const kind = onDemand('moon', load);
  await expect(kind.load?.()).rejects.toThrow('no disk');
  await kind.load?.();
  await kind.load?.();
  expect(load).toHaveBeenCalledTimes(2);
  expect([kind.kind, kind.maxInstances, Object.keys(kind.schema.properties)]).toEqual(['moon', 3, ['rover']]);
});

it('a kind is read with the others once it is loaded', async () => {
  await Promise.all(TARGETS.map((kind) => kind.load?.()));
  await writeFile(path.join(cwd, 'slipway.config.yaml'), CLUSTER);
  const [target] = loadConfig(ENV, cwd, { targets: TARGETS }).operator.targets;
  expect(target).toMatchObject({ name: 'gpu', kind: 'kubernetes', max_instances: 64 });
});
