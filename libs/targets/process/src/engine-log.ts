import { copyFile, open, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { missingAs } from './instance-folder.js';

const NAMES = ['stdout.log', 'stderr.log'] as const;

/** Opens the logs for appending, readable by the owner only. The caller closes both descriptors. */
export async function openLogs(folder: string) {
  const [stdout, stderr] = await Promise.all(NAMES.map((name) => open(join(folder, name), 'a', 0o600)));
  return { stdout, stderr, close: () => Promise.all([stdout.close(), stderr.close()]) };
}

/**
 * Keeps each log below `maxBytes`, give or take what an engine writes between two looks: the full one becomes
 * `<name>.1` and starts over. It is copied and truncated, not renamed, because the engine keeps its descriptor for
 * ever; in append mode it goes on at the new end.
 */
export async function boundLogs(folder: string, maxBytes: number): Promise<void> {
  for (const name of NAMES) {
    const path = join(folder, name);
    const size = (await stat(path).catch(missingAs(undefined)))?.size ?? 0;
    if (size <= maxBytes) continue;
    await copyFile(path, `${path}.1`).catch(missingAs(undefined));
    await truncate(path, 0).catch(missingAs(undefined));
  }
}
