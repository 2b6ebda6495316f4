import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from '@jest/globals';

const SCRIPT = fileURLToPath(new URL('../build.mjs', import.meta.url));

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(os.tmpdir(), 'slipway-test-build-'));
  mkdirSync(path.join(home, 'bin'));
  for (const file of Object.values(SOURCES)) {
    mkdirSync(path.join(home, 'sources', path.dirname(file)), { recursive: true });
    writeFileSync(path.join(home, 'sources', file), file);
  }
  // Nothing else is on the PATH, because this machine may have Go.
  for (const tool of ['nice', 'sleep'])
    symlinkSync(
      execFileSync('/bin/sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim(),
      path.join(home, 'bin', tool),
    );
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Installs a fake `go` that records its arguments; `${at}` is the name of the file that it must create. */
function install(
  version: string,
  { list = `[ "$2" != -m ] || echo ${home}/sources`, build = 'sleep 0.05; echo program > "$at"' } = {},
): void {
  const script = `#!/bin/sh
echo "$*" >> "${home}/asked"
case "$1" in
  env) echo ${version} ;;
  list) ${list} ;;
  build) while [ "$1" != -o ]; do shift; done; at=$2; ${build} ;;
esac
`;
  writeFileSync(path.join(home, 'bin', 'go'), script, { mode: 0o755 });
}

async function build(...args: string[]): Promise<{ status: number; folder: string; said: string }> {
  const child = spawn(process.execPath, [SCRIPT, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: path.join(home, 'bin'), HOME: home, GOROOT: path.join(home, 'none') },
  });
  let [folder, said] = ['', ''];
  child.stdout.on('data', (chunk) => (folder += String(chunk)));
  child.stderr.on('data', (chunk) => (said += String(chunk)));
  const [status] = (await once(child, 'close')) as [number];
  return { status, folder: folder.trim(), said };
}

const cached = (): string[] => readdirSync(path.join(home, '.cache/slipway/kube'));
const compiled = (): number => readFileSync(path.join(home, 'asked'), 'utf8').match(/^build /gm)?.length ?? 0;

const PROGRAMS = ['etcd', 'helm', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl', 'lws'];
const SOURCES = {
  'lws-crd.yaml': 'config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml',
  'lws-webhooks.yaml': 'config/webhook/manifests.yaml',
  'inference-pool-crd.yaml': 'config/crd/bases/inference.networking.k8s.io_inferencepools.yaml',
};
const ALL = [...PROGRAMS, ...Object.keys(SOURCES)].sort();

it('compiles once what the tests need, and prints its folder', async () => {
  install('go1.26.3');
  const { status, folder } = await build();
  expect([status, readdirSync(folder).sort()]).toEqual([0, ALL]);
  expect(compiled()).toBe(PROGRAMS.length);
  for (const [name, file] of Object.entries(SOURCES)) expect(readFileSync(path.join(folder, name), 'utf8')).toBe(file);
  const again = await build();
  expect([again.status, again.folder, compiled()]).toEqual([0, folder, PROGRAMS.length]);
  const more = await build('kwok');
  expect(readdirSync(more.folder).sort()).toEqual([...ALL, 'kwok'].sort());
  expect(compiled()).toBe(PROGRAMS.length + 1);
});

it('builds once if several runs request the same at the same time', async () => {
  install('go1.26.3');
  const all = await Promise.all([build(), build(), build()]);
  expect(all.map(({ status }) => status)).toEqual([0, 0, 0]);
  expect(new Set(all.map(({ folder }) => folder)).size).toBe(1);
  expect(compiled()).toBe(PROGRAMS.length);
  expect(cached().filter((name) => /building|lock/.test(name))).toEqual([]);
});

it('ignores the lock of a process that was killed', async () => {
  install('go1.26.3');
  const { folder } = await build();
  const [part = ''] = cached().filter((name) => name.startsWith('helm-'));
  for (const gone of [folder, path.join(home, '.cache/slipway/kube', part)]) rmSync(gone, { recursive: true });
  const child = spawn('true');
  await once(child, 'close');
  writeFileSync(path.join(home, '.cache/slipway/kube', `${part}.lock`), String(child.pid));
  expect(await build()).toMatchObject({ status: 0, folder });
});

it.each([
  ['there is no Go', undefined, {}, 'it requires Go 1.26 or later, but Go is not installed'],
  ['Go is too old', 'go1.25.9', {}, 'bin/go is go1.25.9'],
  ['the modules are unavailable', 'go1.27', { list: 'echo dial tcp: refused >&2; exit 1' }, 'dial tcp: refused'],
])('exits with 3 if %s', async (_what, version, parts, why) => {
  if (version !== undefined) install(version, parts);
  const { status, folder, said } = await build();
  expect([status, folder]).toEqual([3, '']);
  expect(said).toContain(why);
  expect(said).toContain('The Kubernetes test bed is not built: ');
});

it.each([
  ['a checksum is wrong', { list: 'echo "SECURITY ERROR: checksum mismatch" >&2; exit 1' }, 'checksum mismatch'],
  ['it does not compile', { build: 'echo "x.go:1: undefined: y" >&2; exit 2' }, 'undefined: y'],
])('fails if %s, and leaves nothing half built', async (_what, parts, why) => {
  install('go1.26.3', parts);
  const { status, folder, said } = await build();
  expect([status, folder]).toEqual([1, '']);
  expect(said).toContain(why);
  expect(cached()).toEqual([]);
});

it('lists its parts if an unknown one is requested', async () => {
  expect(await build('minikube')).toMatchObject({
    status: 64,
    said: expect.stringContaining('control-plane, helm, kwok, lws, inference-pool'),
  });
});
