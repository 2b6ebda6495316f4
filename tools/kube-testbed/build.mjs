// Compiles the Kubernetes control plane of the tests once and prints the folder of its programs: node tools/kube-testbed/build.mjs
// For tests only. It is kept in the user's cache folder, by everything that it is made of.
// Exit status 3: something is missing to build it with, which stderr names. Any other failure is one.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const MISSING = 3;
const LEAST_GO = [1, 26];
const BUILD_SECONDS = 3600;
const WAIT_SECONDS = 3600;
const SHOWN_CHARACTERS = 20_000;

/** The version that a server says it has; without it, it says v0.0.0-master. */
const [, KUBERNETES] = /k8s\.io\/kubernetes v(\S+)/.exec(readFileSync(path.join(HERE, 'go.mod'), 'utf8'));
const [MAJOR, MINOR] = KUBERNETES.split('.');
const VERSION = 'k8s.io/component-base/version';
const VERSION_FLAGS = [
  `-X ${VERSION}.gitVersion=v${KUBERNETES}`,
  `-X ${VERSION}.gitMajor=${MAJOR}`,
  `-X ${VERSION}.gitMinor=${MINOR}`,
  `-X ${VERSION}.gitTreeState=clean`,
].join(' ');

/** Each folder is a Go module of its own, with the versions and sums of everything that comes with it. */
const BUILDS = [
  {
    module: '.',
    flags: VERSION_FLAGS,
    programs: {
      'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
      'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
      'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
      kubectl: 'k8s.io/kubernetes/cmd/kubectl',
      etcd: 'go.etcd.io/etcd/server/v3',
    },
  },
];

const cache = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'slipway', 'kube');
const key = digest();
const folder = path.join(cache, key);

if (!existsSync(folder)) {
  const go = findGo();
  mkdirSync(cache, { recursive: true });
  const isMine = await takeTurn();
  // Whoever held the lock may have built it meanwhile.
  if (!existsSync(folder)) compile(go);
  if (isMine) release();
}
process.stdout.write(`${folder}\n`);

function digest() {
  const hash = createHash('sha256').update(JSON.stringify([process.platform, process.arch]));
  hash.update(readFileSync(fileURLToPath(import.meta.url)));
  for (const { module } of BUILDS)
    for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(path.join(HERE, module, file)));
  return hash.digest('hex').slice(0, 16);
}

function compile(go) {
  const scratch = mkdtempSync(path.join(cache, 'building-'));
  const clean = () => rmSync(scratch, { recursive: true, force: true });
  process.once('exit', clean);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  for (const { module, programs } of BUILDS) fetchSources(go, module, Object.values(programs));
  for (const { module, programs, flags } of BUILDS)
    for (const [name, source] of Object.entries(programs)) {
      told(`compiling ${name}`);
      const args = ['build', '-trimpath', '-p', '2', '-ldflags', ['-s -w', flags].filter(Boolean).join(' ')];
      const { status, output } = run(go, [...args, '-o', path.join(scratch, name), source], module);
      if (status !== 0) giveUp(1, `${name} does not compile`, output);
    }
  try {
    // Whole or not at all: another run may look for it.
    renameSync(scratch, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}

/** Apart from compiling: an index that cannot be reached is no fault of the change under test, a wrong checksum is. */
function fetchSources(go, module, sources) {
  told(`fetching the modules of ${module === '.' ? 'the control plane' : module}`);
  const { status, output } = run(go, ['list', '-deps', '-f', '{{if .Error}}{{.Error}}{{end}}', ...sources], module);
  if (status === 0) return;
  const isUntrue = /checksum mismatch|SECURITY ERROR|missing go\.sum entry|updates to go\.(mod|sum) needed/.test(
    output,
  );
  giveUp(isUntrue ? 1 : MISSING, 'its Go modules cannot be fetched', output);
}

function run(go, args, module) {
  const { status, error, stdout, stderr } = spawnSync('nice', ['-n', '15', go, ...args], {
    cwd: path.join(HERE, module),
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: BUILD_SECONDS * 1_000,
    // `local`: a newer go.mod must not fetch a toolchain.
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local', GOWORK: 'off' },
  });
  const output = `${stdout ?? ''}\n${stderr ?? ''}${error ? `\n${error.message}` : ''}`;
  return { status: status ?? 1, output };
}

function findGo() {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/local/go/bin'];
  const found = [];
  for (const go of folders.map((one) => path.join(one, 'go')).filter((one) => existsSync(one))) {
    const said = spawnSync(go, ['env', 'GOVERSION'], {
      encoding: 'utf8',
      timeout: 30_000,
      env: { ...process.env, GOTOOLCHAIN: 'local', GOWORK: 'off' },
    });
    const [, major, minor] = /^go(\d+)\.(\d+)/.exec(said.stdout?.trim() ?? '') ?? [];
    if (major === undefined) continue;
    if (major > LEAST_GO[0] || (Number(major) === LEAST_GO[0] && minor >= LEAST_GO[1])) return go;
    found.push(`${go} is ${said.stdout.trim()}`);
  }
  const why = found.length > 0 ? found.join(', ') : 'Go is not installed';
  return giveUp(MISSING, `it needs Go ${LEAST_GO.join('.')} or later, and ${why}`);
}

/** Saves work and memory where two runs want the same; without it the result is no other. False: waited for nothing any more. */
async function takeTurn() {
  const end = Date.now() + WAIT_SECONDS * 1_000;
  let isTold = false;
  for (;;) {
    try {
      writeFileSync(lockFile(), String(process.pid), { flag: 'wx' });
      process.once('exit', release);
      return true;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (existsSync(folder) || Date.now() > end) return false;
    const holder = holderOfLock();
    if (holder === undefined || !isAlive(holder)) {
      rmSync(lockFile(), { force: true });
      continue;
    }
    if (!isTold) told(`process ${holder} builds it already: waiting`);
    isTold = true;
    await delay(500);
  }
}

function holderOfLock() {
  try {
    const pid = Number(readFileSync(lockFile(), 'utf8'));
    // An empty file is one that is just being written, unless it stays so: by whom, its number will tell.
    if (!pid && Date.now() - statSync(lockFile()).mtimeMs < 5_000) return 1;
    return pid || undefined;
  } catch {
    return undefined;
  }
}

function release() {
  if (holderOfLock() === process.pid) unlinkSync(lockFile());
}

function lockFile() {
  return path.join(cache, `${key}.lock`);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function told(line) {
  process.stderr.write(`kube test bed: ${line}\n`);
}

function giveUp(status, reason, output = '') {
  process.stderr.write(output.slice(-SHOWN_CHARACTERS));
  process.stderr.write(`\nThe Kubernetes test bed is not built: ${reason}.\n`);
  process.exit(status);
}
