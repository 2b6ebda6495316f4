import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { loadKinds } from './kinds-on-demand.js';
import { OperatorFileWatch, OperatorSettings, parseOperatorConfig, type TargetReader } from './index.js';

let cwd: string;
let file: string;
const load = jest.fn(async () => undefined);
const plain: TargetReader = { kind: 'oven', schema: { properties: {} }, read: () => ({}) };
const cluster: TargetReader = { ...plain, kind: 'cluster', load };
const KINDS = [plain, cluster];

beforeEach(() => {
  cwd = mkdtempSync(path.join(os.tmpdir(), 'slipway-kinds-'));
  file = path.join(cwd, 'slipway.config.yaml');
  load.mockClear();
});
afterEach(() => rmSync(cwd, { recursive: true }));

it('loads no code if there is no file, or if the file does not name the kind', async () => {
  await loadKinds(KINDS, {}, cwd);
  writeFileSync(file, 'targets: [{name: a, kind: oven}]');
  await loadKinds(KINDS, {}, cwd);
  expect(load).not.toHaveBeenCalled();
});

it.each([
  ['in the folder', {}],
  ['where SLIPWAY_CONFIG says', { SLIPWAY_CONFIG: 'slipway.config.yaml' }],
])('loads a kind that the file names (%s)', async (_where, env) => {
  writeFileSync(file, 'targets:\n  - {name: a, "kind": "cluster"}');
  await loadKinds(KINDS, env, cwd);
  expect(load).toHaveBeenCalledTimes(1);
});

it('ignores a file that cannot be read, and reads no pipe', async () => {
  await loadKinds(KINDS, { SLIPWAY_CONFIG: 'no-such.yaml' }, cwd);
  expect(load).not.toHaveBeenCalled();
  // A folder is not a regular file either.
  await loadKinds(KINDS, { SLIPWAY_CONFIG: '.' }, cwd);
  expect(load).toHaveBeenCalledTimes(1);
});

/** A running process with the file as written. Loading the code of `cluster` takes 50 ms. */
function followed() {
  let isLoaded = false;
  load.mockImplementation(async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    isLoaded = true;
    return undefined;
  });
  const late: TargetReader = {
    ...cluster,
    read: () => {
      if (!isLoaded) throw new Error('read before it was loaded');
      return {};
    },
  };
  const fetchCode = async (text?: string) => (text?.includes('cluster') ? late.load?.() : undefined);
  const parse = (text = 'targets: []') => parseOperatorConfig(text, [plain, late]);
  const settings = OperatorSettings.of(parse, 'targets: []', fetchCode);
  const silent = { log: () => undefined, error: () => undefined };
  return { settings, watch: new OperatorFileWatch(settings, { path: file, isNamed: true }, silent) };
}

it('loads a kind that a running process begins to need before it checks the file', async () => {
  const { settings, watch } = followed();
  writeFileSync(file, 'targets: [{name: a, kind: oven}]');
  await watch.reload();
  expect(load).not.toHaveBeenCalled();
  writeFileSync(file, 'targets: [{name: a, kind: oven}, {name: b, kind: cluster}]');
  await watch.reload();
  expect(settings.targets.map(({ kind }) => kind)).toEqual(['oven', 'cluster']);
  expect(settings.state.problems).toEqual([]);
});

it('refuses a file that names code which cannot be loaded, and keeps the settings in effect', async () => {
  const { settings, watch } = followed();
  writeFileSync(file, 'targets: [{name: a, kind: oven}]');
  await watch.reload();
  load.mockRejectedValueOnce(new Error('no such module'));
  writeFileSync(file, 'targets: [{name: b, kind: cluster}]');
  await watch.reload();
  expect(settings.targets.map(({ name }) => name)).toEqual(['a']);
  expect(settings.state.problems).toEqual(['the code of a target kind in the file cannot be loaded: no such module']);
});
