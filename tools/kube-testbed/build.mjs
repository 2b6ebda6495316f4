// Compiles the Kubernetes control plane of the tests once and prints the folder of its programs:
// node tools/kube-testbed/build.mjs [kwok]
// For tests only. It is kept in the user's cache folder, by a hash of all its inputs.
// Exit status 3: a build tool is missing; stderr names it. Any other status except 0 is a failure.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
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
import { runStep } from '../build-progress.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const MISSING = 3;
const GO_FLAGS = ['-trimpath', '-p', '2'];
const LEAST_GO = [1, 26];
const BUILD_SECONDS = 3600;
const WAIT_SECONDS = 3600;
const SHOWN_CHARACTERS = 20_000;

/** The version that a server reports; without it, it reports v0.0.0-master. */
const [, KUBERNETES] = /k8s\.io\/kubernetes v(\S+)/.exec(readFileSync(path.join(HERE, 'go.mod'), 'utf8'));
const [MAJOR, MINOR] = KUBERNETES.split('.');
const VERSION = 'k8s.io/component-base/version';
const VERSION_FLAGS = [
  `-X ${VERSION}.gitVersion=v${KUBERNETES}`,
  `-X ${VERSION}.gitMajor=${MAJOR}`,
  `-X ${VERSION}.gitMinor=${MINOR}`,
  `-X ${VERSION}.gitTreeState=clean`,
].join(' ');

/** Each folder is a separate Go module, with the versions and sums of all its dependencies. */
const BUILDS = {
  'control-plane': {
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
  helm: { module: 'modules/helm', programs: { helm: 'helm.sh/helm/v4/cmd/helm' } },
  kwok: { module: 'modules/kwok', programs: { kwok: 'sigs.k8s.io/kwok/cmd/kwok' } },
  lws: {
    module: 'modules/lws',
    programs: { lws: 'sigs.k8s.io/lws/cmd' },
    /** Files from the sources that must be applied to a cluster before its controller starts. */
    files: {
      from: 'sigs.k8s.io/lws',
      'lws-crd.yaml': 'config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml',
      'lws-webhooks.yaml': 'config/webhook/manifests.yaml',
    },
  },
  /** Only a type: nothing runs. */
  'inference-pool': {
    module: 'modules/inference-pool',
    programs: {},
    files: {
      from: 'sigs.k8s.io/gateway-api-inference-extension',
      'inference-pool-crd.yaml': 'config/crd/bases/inference.networking.k8s.io_inferencepools.yaml',
    },
  },
};
/** The parts that tests need; others are built only if they are named. */
const ALWAYS = ['control-plane', 'helm', 'lws', 'inference-pool'];

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(BUILDS, name));
if (unknown.length > 0) giveUp(64, `unknown: ${unknown.join(', ')}; use ${Object.keys(BUILDS).join(', ')}`);
const wanted = Object.keys(BUILDS).filter((name) => ALWAYS.includes(name) || asked.includes(name));

const cache = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'slipway', 'kube');
const parts = wanted.map((name) => `${name}-${digest(BUILDS[name])}`);
const folder = path.join(cache, `all-${shortened(createHash('sha256').update(parts.join()))}`);
let go;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
if (!existsSync(folder)) {
  told(
    'it is compiled once from Go modules, in about half an hour on two cores. It needs Go 1.26 or later, a Go module proxy and 8 GB of disk',
  );
  mkdirSync(cache, { recursive: true });
  for (const [at, name] of wanted.entries()) await build(BUILDS[name], path.join(cache, parts[at]));
  await wholly(folder, (scratch) => {
    for (const part of parts)
      for (const program of readdirSync(path.join(cache, part)))
        linkSync(path.join(cache, part, program), path.join(scratch, program));
  });
}
process.stdout.write(`${folder}\n`);

/** A hash of everything that determines the result. */
function digest({ module, ...rest }) {
  const hash = createHash('sha256').update(JSON.stringify([process.platform, process.arch, GO_FLAGS, rest]));
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(path.join(HERE, module, file)));
  return shortened(hash);
}

function shortened(hash) {
  return hash.digest('hex').slice(0, 16);
}

async function build({ module, flags, programs, files }, into) {
  if (existsSync(into)) return;
  go ??= findGo();
  const release = await takeLock(into);
  // The previous owner of the lock may have built it.
  if (!existsSync(into)) {
    await fetchSources(module, Object.values(programs), files?.from);
    await wholly(into, async (scratch) => {
      for (const [name, source] of Object.entries(programs)) {
        const link = ['-s -w', flags].filter(Boolean).join(' ');
        const { status, output } = await run(
          `compiling ${name}`,
          ['build', ...GO_FLAGS, '-ldflags', link, '-o', path.join(scratch, name), source],
          module,
        );
        if (status !== 0) giveUp(1, `${name} does not compile`, output);
      }
      if (files) await copySources(module, files, scratch);
    });
  }
  release();
}

/** The folder is complete or does not exist, because another run may check for it, or build the same. */
async function wholly(into, fill) {
  const scratch = mkdtempSync(path.join(cache, 'building-'));
  const clean = () => rmSync(scratch, { recursive: true, force: true });
  process.once('exit', clean);
  await fill(scratch);
  try {
    renameSync(scratch, into);
  } catch (error) {
    if (!existsSync(into)) throw error;
  }
  clean();
  process.off('exit', clean);
}

/** Separate from compiling: an unreachable index is not a fault of the change under test, but a wrong checksum is. */
async function fetchSources(module, sources, from) {
  // If nothing of a module is compiled, only the module itself is fetched, without its dependencies.
  const wanted =
    sources.length > 0
      ? ['list', '-deps', '-f', '{{if .Error}}{{.Error}}{{end}}', ...sources]
      : ['mod', 'download', from];
  const title = `fetching the modules of ${module === '.' ? 'the control plane' : module}`;
  const { status, output } = await run(title, wanted, module);
  if (status === 0) return;
  const isUntrue = /checksum mismatch|SECURITY ERROR|missing go\.sum entry|updates to go\.(mod|sum) needed/.test(
    output,
  );
  giveUp(isUntrue ? 1 : MISSING, 'its Go modules cannot be fetched', output);
}

async function copySources(module, { from, ...files }, into) {
  const { status, output } = await run(
    `copying the files of ${module}`,
    ['list', '-m', '-f', '{{.Dir}}', from],
    module,
  );
  if (status !== 0) giveUp(1, `the sources of ${from} were not found`, output);
  for (const [name, file] of Object.entries(files)) copyFileSync(path.join(output.trim(), file), path.join(into, name));
}

async function run(title, args, module) {
  const { status, output } = await runStep(`kube test bed: ${title}`, 'nice', ['-n', '15', go, ...args], {
    cwd: path.join(HERE, module),
    timeoutMs: BUILD_SECONDS * 1_000,
    // `local`: a newer go.mod must not fetch a toolchain.
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local', GOWORK: 'off' },
  });
  return { status: status ?? 1, output };
}

function findGo() {
  // Go's own archive is unpacked there, and its folder is not always on the PATH.
  const folders = [
    ...(process.env.PATH ?? '').split(path.delimiter),
    path.join(process.env.GOROOT || '/usr/local/go', 'bin'),
  ];
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
  return giveUp(MISSING, `it requires Go ${LEAST_GO.join('.')} or later, but ${why}`);
}

/**
 * Saves work and memory if two runs build the same; the result does not depend on it. Returns a function that releases
 * the lock.
 */
async function takeLock(into) {
  const lock = `${into}.lock`;
  const release = () => {
    if (holderOf(lock) === process.pid) unlinkSync(lock);
  };
  const end = Date.now() + WAIT_SECONDS * 1_000;
  let isTold = false;
  while (!existsSync(into) && Date.now() < end) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      process.once('exit', release);
      return release;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = holderOf(lock);
    if (holder === undefined || !isAlive(holder)) {
      rmSync(lock, { force: true });
      continue;
    }
    if (!isTold) told(`waiting for process ${holder}, which is building ${path.basename(into)}`);
    isTold = true;
    await delay(500);
  }
  return () => undefined;
}

function holderOf(lock) {
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    // An empty file is still being written, unless it stays empty; the id of its process follows.
    if (!pid && Date.now() - statSync(lock).mtimeMs < 5_000) return 1;
    return pid || undefined;
  } catch {
    return undefined;
  }
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
