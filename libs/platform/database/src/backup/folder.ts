import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { dumpDatabase, recordBackup, type DatabaseDump } from './dump.js';
import { loadDatabase, RestoreError, type RestoreInto } from './load.js';

/**
 * A backup is a folder with three parts. `backup.json` is written last, so that a backup without it is incomplete.
 * `database/` has a file for each table. `files/` has the files that belong to the database. A backup gives access to
 * everything that the installation can access, so its mode is 0700.
 */
const MANIFEST = 'backup.json';

/** Files and folders that belong to the database, by their name in the backup. A missing one is skipped. */
export type KeptFiles = Readonly<Record<string, string>>;

/**
 * @param files are copied before and after the moment of the dump, so that a file that a row of the dump names is in
 * one of the two copies
 * @returns the number of rows of all tables, and the files that existed
 */
export async function writeBackup(
  folder: string,
  appUrl: string,
  files: KeptFiles,
): Promise<{ rows: number; kept: string[] }> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0)
    throw new RestoreError(`${folder} is not empty: specify a new or empty folder`);
  await mkdir(path.join(folder, 'database'), { mode: 0o700 });
  await copyAll(files, folder);
  const dump = await dumpDatabase(appUrl, path.join(folder, 'database'));
  const kept = await copyAll(files, folder);
  await writeFile(path.join(folder, `${MANIFEST}.new`), `${JSON.stringify(dump, null, 1)}\n`, { mode: 0o600 });
  await rename(path.join(folder, `${MANIFEST}.new`), path.join(folder, MANIFEST));
  await recordBackup(appUrl, dump.taken_at);
  return { rows: dump.tables.reduce((sum, table) => sum + table.rows, 0), kept };
}

/** @throws RestoreError if the folder contains no complete backup */
export async function readManifest(folder: string): Promise<DatabaseDump> {
  const text = await readFile(path.join(folder, MANIFEST), 'utf8').catch(() => undefined);
  if (text === undefined)
    throw new RestoreError(`${folder} does not contain a complete backup: ${MANIFEST} is missing`);
  return JSON.parse(text) as DatabaseDump;
}

/**
 * Restores the files first. The rows are loaded last, in one transaction, so that only they are missing after an
 * interrupted restore, which can be called again.
 * @throws RestoreError if a file already exists with other contents, and for the reasons of `loadDatabase`
 */
export async function restoreBackup(folder: string, into: RestoreInto, files: KeptFiles): Promise<void> {
  const dump = await readManifest(folder);
  await restoreFiles(folder, files);
  await loadDatabase(dump, path.join(folder, 'database'), into);
}

/** Restores files that must exist before the database. May be called again. */
export async function restoreFiles(folder: string, files: KeptFiles): Promise<void> {
  await readManifest(folder);
  for (const [name, location] of Object.entries(files)) {
    const kept = path.join(folder, 'files', name);
    const [theirs, ours] = await Promise.all([contentOf(kept), contentOf(location)]);
    if (theirs && ours && !theirs.equals(ours))
      throw new RestoreError(
        `${location} differs from the file in the backup: restore into a new installation, or move this file away`,
      );
    await copyMissing(kept, location);
  }
}

/** Undefined for a folder, or if the file does not exist. */
function contentOf(file: string): Promise<Buffer | undefined> {
  return readFile(file).catch(() => undefined);
}

async function copyAll(files: KeptFiles, folder: string): Promise<string[]> {
  await mkdir(path.join(folder, 'files'), { recursive: true, mode: 0o700 });
  for (const [name, location] of Object.entries(files)) await copyMissing(location, path.join(folder, 'files', name));
  return Object.keys(files).filter((name) => existsSync(path.join(folder, 'files', name)));
}

/** The product keeps running meanwhile, so a file may disappear during the copy. */
async function copyMissing(from: string, to: string): Promise<void> {
  const entries = await readdir(from, { withFileTypes: true }).catch(() => undefined);
  if (!entries) return copyOne(from, to);
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of entries)
    if (entry.isFile() || entry.isDirectory())
      await copyMissing(path.join(from, entry.name), path.join(to, entry.name));
}

async function copyOne(from: string, to: string): Promise<void> {
  if (existsSync(to)) return;
  await mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
  try {
    await copyFile(from, `${to}.new`);
    await rename(`${to}.new`, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
