import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { json, UnrulyServer } from '../test/unruly-server.js';

const HERE = fileURLToPath(new URL('..', import.meta.url));
const ROOT = path.join(HERE, '../..');
const TSC = path.join(ROOT, 'node_modules/typescript/bin/tsc');

let dir: string;
/** A compiler and `npm` on a busy machine. */
jest.setTimeout(300_000);

let packed: string[];
beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'slipway-sdk-'));
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', dir], HERE);
  const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  packed = files.map((file) => file.path).sort();
  const installed = path.join(dir, 'node_modules/@slipway/sdk');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', path.join(dir, filename), '--strip-components=1', '-C', installed], dir);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Runs a program without the settings that point Node to the workspace's own sources. */
function run(program: string, args: string[], cwd: string): Promise<{ stdout: string }> {
  return promisify(execFile)(program, args, { cwd, env: { ...process.env, NODE_OPTIONS: '' } });
}

it('the generated files match the document', async () => {
  const { stdout } = await run(process.execPath, [path.join(HERE, 'generate.mjs'), '--check'], ROOT);
  expect(stdout).toBe('');
});

it('the package has the client and its document, and none of the tools for the document', async () => {
  const parts = ['client', 'generated', 'resources'].map(async (folder) =>
    (await readdir(path.join(HERE, 'src', folder))).map((file) => `${folder}/${file}`),
  );
  const contracts = ['audit-chain', 'deployment-state', 'event-types', 'metrics', 'slashes', 'time-limit'].map(
    (name) => `contracts/${name}.ts`,
  );
  const sources = [
    'index.ts',
    'contracts.ts',
    'endpoints.ts',
    'slipway.ts',
    ...contracts,
    ...(await Promise.all(parts)).flat(),
  ].filter((file) => !/\.spec\.ts$/.test(file));
  const built = sources.flatMap((file) => ['.js', '.d.ts'].map((end) => `dist/${file.replace(/\.ts$/, end)}`));
  expect(packed).toEqual([...built, 'LICENSE', 'README.md', 'openapi.json', 'package.json'].sort());
  expect(await readFile(path.join(HERE, 'LICENSE'))).toEqual(await readFile(path.join(ROOT, 'LICENSE')));
});

it('the package imports nothing but its own parts, so that browsers need no bundler', async () => {
  for (const file of packed.filter((name) => name.endsWith('.js'))) {
    const text = await readFile(path.join(dir, 'node_modules/@slipway/sdk', file), 'utf8');
    const imported = [...text.matchAll(/(?<!['"])(?:\bfrom|\bimport\(?)\s*['"]([^'"]+)['"]/g)].map(([, name]) => name);
    expect({ file, foreign: imported.filter((name) => !name?.startsWith('.')) }).toEqual({ file, foreign: [] });
  }
});

it('the package runs in a Node without other packages', async () => {
  const server = await UnrulyServer.start();
  server.does(json(200, { scopes: ['viewer'] }));
  await writeFile(
    path.join(dir, 'main.mjs'),
    `import { Slipway } from '@slipway/sdk';
     const who = await new Slipway({ baseUrl: ${JSON.stringify(server.url)}, token: 'slw_a_b' }).whoAmI();
     console.log(who.scopes.join());`,
  );
  const { stdout } = await run(process.execPath, ['main.mjs'], dir);
  await server.stop();
  expect(stdout).toBe('viewer\n');
});

it('the package has types for browsers, which accept unknown values and refuse unknown options', async () => {
  await writeFile(
    path.join(dir, 'page.ts'),
    `import { isSlipwayError, Slipway, type Operation } from '@slipway/sdk';
     const slipway = new Slipway({ baseUrl: location.origin, token: async () => 'jwt' });
     export async function roll(stop: AbortSignal): Promise<Operation> {
       const { operation } = await slipway.deployments.rollouts.create('chat', { spec_patch: {} }, { idempotencyKey: 'a' });
       const { capacity } = await slipway.deployments.rollouts.rehearse('chat', { strategy: { type: 'auto' } });
       document.title = capacity.target;
       for await (const { name } of slipway.deployments.list({ label: 'a=b' })) document.title = name;
       for await (const { type } of slipway.deployments.events.follow('chat', { signal: stop })) document.title = type;
       return slipway.operations.wait(operation.id, { onStep: ({ status }) => { if (status === 'hibernating') stop.throwIfAborted(); } });
     }
     export const isFull = (error: unknown): boolean => isSlipwayError(error, 'capacity_exhausted') && error.code === 'capacity_exhausted';
     // @ts-expect-error a change of a deployment takes no key
     void slipway.deployments.update('a', {}, { idempotencyKey: 'a' });
     // @ts-expect-error no such scope can be asked for
     void slipway.tokens.create({ name: 'a', scopes: ['emperor'] });
     // @ts-expect-error a rehearsal is a method of its own
     void slipway.deployments.create({ name: 'a' }, { validate_only: true });`,
  );
  const options = {
    strict: true,
    noEmit: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: [],
  };
  await writeFile(path.join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['page.ts'] }));
  const said = await run(process.execPath, [TSC, '-p', dir], dir).catch((failure: { stdout: string }) => failure);
  expect(said.stdout).toBe('');
});
