import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { EngineProcesses } from './engine-process.js';
import { InstanceFolder, missingAs } from './instance-folder.js';

/**
 * Removes the folder of an instance that was terminated long ago. It is renamed first: a process that was about to
 * claim a generation in it finds no folder and ends. One that had just claimed it gets the folder back.
 */
export async function removeFolder(folder: InstanceFolder, processes: EngineProcesses): Promise<void> {
  // A name that no instance can have.
  const grave = new InstanceFolder(join(dirname(folder.path), `.removed.${basename(folder.path)}`));
  await rm(grave.path, { recursive: true, force: true });
  await rename(folder.path, grave.path).catch(missingAs(undefined));
  for (const { record } of await grave.generations()) {
    if (record === undefined || !(await processes.isAlive(record))) continue;
    await rename(grave.path, folder.path);
    return;
  }
  await rm(grave.path, { recursive: true, force: true });
}
