import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { dumpDatabase, type DatabaseDump } from './dump.js';
import { loadDatabase, RestoreError, type RestoreInto } from './load.js';

/**
 * A back-up is a folder: `backup.json`, written last, so that without it there is none; `database/`, a file for each table; `files/`,
 * what stands beside the database. It opens everything that the installation may: mode 0700.
 */
const MANIFEST = 'backup.json';

/** Files and folders that belong to the database, by the name they get in the back-up. One that is missing is left out. */
export type KeptFiles = Readonly<Record<string, string>>;

/**
 * @param files are copied before and after the moment of the dump: a file that a row of the dump names is in one of the two.
 * @returns the rows of all tables together, and which of the files there were
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
  return { rows: dump.tables.reduce((sum, table) => sum + table.rows, 0), kept };
}

/** @throws RestoreError where the folder holds no whole back-up */
export async function readManifest(folder: string): Promise<DatabaseDump> {
  const text = await readFile(path.join(folder, MANIFEST), 'utf8').catch(() => undefined);
  if (text === undefined)
    throw new RestoreError(`${folder} does not contain a complete backup: ${MANIFEST} is missing`);
  return JSON.parse(text) as DatabaseDump;
}

/**
 * Files first: what is loaded last, in one transaction, is what an interrupted restore lacks when it is called again.
 * @throws RestoreError where a file is there already and says something else, and as `loadDatabase` does
 */
export async function restoreBackup(folder: string, into: RestoreInto, files: KeptFiles): Promise<void> {
  const dump = await readManifest(folder);
  await restoreFiles(folder, files);
  await loadDatabase(dump, path.join(folder, 'database'), into);
}

/** For what has to stand there before a database does. Repeatable. */
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

/** Undefined for a folder, or where there is none. */
function contentOf(file: string): Promise<Buffer | undefined> {
  return readFile(file).catch(() => undefined);
}

async function copyAll(files: KeptFiles, folder: string): Promise<string[]> {
  await mkdir(path.join(folder, 'files'), { recursive: true, mode: 0o700 });
  for (const [name, location] of Object.entries(files)) await copyMissing(location, path.join(folder, 'files', name));
  return Object.keys(files).filter((name) => existsSync(path.join(folder, 'files', name)));
}

/** The product goes on while this runs, so a file may go away under it. */
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
