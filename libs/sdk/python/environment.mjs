// Creates the environment that generates and tests the Python client, once, and prints its folder. Run it as
// `node libs/sdk/python/environment.mjs [requirements file]`. The folder has `wheels/`, all of requirements.txt, from
// which a test installs without a network, and `venv/`, where they are installed. It is kept in the user's cache folder,
// by its versions.
// Exit status 3: something is missing, which stderr names. Any other failure is an error.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const REQUIREMENTS = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, 'requirements.txt'));
const SECONDS = 600;
const MISSING = 3;

const about = run(
  'python3',
  ['-c', 'import ensurepip, sys, venv; assert sys.version_info >= (3, 11), sys.version; print(sys.version)'],
  'Python from 3.11 on, with its module venv, is not here',
);
const key = createHash('sha256').update(JSON.stringify([about, readFileSync(REQUIREMENTS, 'utf8')]));
const cache = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'slipway', 'python-client');
const folder = path.join(cache, key.digest('hex').slice(0, 16));
const isWhole = path.join(folder, 'whole');

if (!existsSync(isWhole)) {
  // A venv contains its own path, so it is created at its final path. An incomplete one is created again.
  rmSync(folder, { recursive: true, force: true });
  const [venv, wheels] = [path.join(folder, 'venv'), path.join(folder, 'wheels')];
  const pip = (...args) => [path.join(venv, 'bin/python'), ['-m', 'pip', '--disable-pip-version-check', ...args]];
  run('python3', ['-m', 'venv', venv], 'a venv cannot be made');
  const exactly = ['--no-deps', '--only-binary', ':all:', '-r', REQUIREMENTS];
  run(...pip('download', '--dest', wheels, ...exactly), `what ${REQUIREMENTS} names cannot be downloaded`);
  const fromThem = ['install', '--no-index', '--find-links', wheels, ...exactly];
  run(...pip(...fromThem), `what ${REQUIREMENTS} names does not install`, 1);
  writeFileSync(isWhole, '');
}
process.stdout.write(`${folder}\n`);

/** Runs a command and shows its output only if it fails. */
function run(command, args, reason, failure = MISSING) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: SECONDS * 1_000,
  });
  if (status === 0) return stdout;
  process.stderr.write(`${stdout ?? ''}\n${stderr ?? error?.message ?? ''}`.slice(-4_000));
  process.stderr.write(`\nThere is no Python environment: ${reason}.\n`);
  process.exit(failure);
}
