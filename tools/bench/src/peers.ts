import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { withinTime } from '@slipway/contracts';

const SOURCES = fileURLToPath(new URL('../src/peers/', import.meta.url));
const CACHE = path.join(process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'slipway', 'bench-peers');
const INSTALL_MS = 600_000;
const READY_MS = 60_000;

interface Versions {
  npm: Record<string, string>;
  python: Record<string, string>;
}

const versions = JSON.parse(readFileSync(path.join(SOURCES, 'versions.json'), 'utf8')) as Versions;

/** Thrown if something that a peer needs is not installed. The peer is skipped with this reason. */
export class NotHere extends Error {}

/**
 * A peer that is missing or fails does not affect the others. The reason is printed on stderr and, in one line, in the
 * table.
 */
export function whyNot(title: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${title}: skipped: ${error instanceof NotHere ? reason : (error as Error).stack}\n`);
  const line = (reason.split('\n', 1)[0] as string).replaceAll('|', '/').slice(0, 200);
  return error instanceof NotHere ? line : `failed: ${line}`;
}

/**
 * Installs npm packages in a separate folder outside the workspace, which is kept between runs by their versions. None
 * of their scripts runs.
 * @returns the folder
 * @throws NotHere if they cannot be installed
 */
export function npmFolder(...names: string[]): Promise<string> {
  const dependencies = Object.fromEntries(names.map((name) => [name, versions.npm[name]]));
  return kept(dependencies, async (folder) => {
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }));
    const flags = ['--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock'];
    await runToEnd('npm', ['install', ...flags], folder);
  });
}

/**
 * A virtual environment with this Python package.
 * @returns its `bin` folder
 * @throws NotHere if it cannot be installed
 */
export async function pythonBin(name: string): Promise<string> {
  const wanted = `${name}==${versions.python[name]}`;
  const folder = await kept({ python: wanted }, async (made) => {
    await runToEnd('python3', ['-m', 'venv', path.join(made, 'venv')], made);
    await runToEnd(path.join(made, 'venv/bin/python'), ['-m', 'pip', 'install', '--quiet', wanted], made);
  });
  return path.join(folder, 'venv/bin');
}

/** Copies one of our programs next to the packages that it imports. */
export function programIn(folder: string, name: string): string {
  for (const file of ['engine.mjs', name]) copyFileSync(path.join(SOURCES, file), path.join(folder, file));
  return path.join(folder, name);
}

/** Starts a server of a peer and waits until it answers at this address. @throws NotHere if it does not */
export async function startServer(
  [command, ...args]: [string, ...string[]],
  readyUrl: string,
  own: Record<string, string> = {},
): Promise<{ pid: number; stop(): Promise<void> }> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...ownEnvironment(), ...own } });
  const said = lastLines(child);
  let isGone = false;
  const gone = new Promise<void>((resolve) => {
    child.once('error', () => resolve()).once('exit', () => resolve());
  }).then(() => void (isGone = true));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const insist = setTimeout(() => child.kill('SIGKILL'), 5_000);
    await gone;
    clearTimeout(insist);
  };
  for (const deadline = Date.now() + READY_MS; ; await delay(100)) {
    const answers = await withinTime(READY_MS, undefined, (signal) => fetch(readyUrl, { signal })).then(
      (answer) => answer.ok,
      () => false,
    );
    if (answers) return { pid: child.pid as number, stop };
    if (Date.now() < deadline && !isGone) continue;
    await stop();
    throw new NotHere(`${path.basename(command)} failed to start: ${said()}`);
  }
}

async function kept(what: object, make: (folder: string) => Promise<void>): Promise<string> {
  const key = createHash('sha256')
    .update(`${process.version} ${process.arch} ${JSON.stringify(what)}`)
    .digest('hex');
  const folder = path.join(CACHE, key.slice(0, 16));
  const stamp = path.join(folder, 'complete');
  if (existsSync(stamp)) return folder;
  // Created in its final folder, because Python programs contain its path. If the stamp is missing, an install was
  // interrupted.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  process.stderr.write(
    `installing ${Object.entries(what)
      .map((pair) => pair.join(' '))
      .join(', ')} in ${folder}\n`,
  );
  await make(folder);
  writeFileSync(stamp, '');
  return folder;
}

function runToEnd(command: string, args: string[], cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: ownEnvironment(),
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: INSTALL_MS,
    });
    const said = lastLines(child);
    child.once('error', (error) => reject(new NotHere(error.message)));
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new NotHere(`${path.basename(command)} exited with ${code}: ${said()}`));
    });
  });
}

/** `npm run` sets variables with the package of a script, and an install would use that package. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const isOfRun = (name: string): boolean =>
    /^(npm_package_|npm_lifecycle_|npm_config_local_prefix$|INIT_CWD$)/.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOfRun(name)));
}

/** Returns the last lines of stderr as one line. */
function lastLines(child: ChildProcess): () => string {
  let text = '';
  child.stderr!.on('data', (chunk) => (text = (text + String(chunk)).slice(-400)));
  return () => text.replace(/\s+/g, ' ').trim();
}
