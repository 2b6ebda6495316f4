import { statSync } from 'node:fs';
import type { TargetReader } from './operator-config.js';
import { operatorFileOf, readOperatorFile } from './operator-settings.js';

/**
 * For entry points that read targets, before `loadConfig`: fetches the code of those kinds that the operator's file names, where a kind has code
 * that most installations never need. What is wrong with the file says `loadConfig`.
 */
export async function loadKinds(
  readers: readonly TargetReader[],
  env: NodeJS.ProcessEnv = process.env,
  cwd: string = process.cwd(),
): Promise<void> {
  const file = operatorFileOf(env['SLIPWAY_CONFIG']?.trim() || undefined, cwd);
  // A pipe can be read once, and that is for `loadConfig` to do.
  const isPipe = statSync(file.path, { throwIfNoEntry: false })?.isFile() === false;
  await Promise.all(isPipe ? readers.map((reader) => reader.load?.()) : [loadNamed(readers, textOf(file))]);
}

/** Of a file's text only whether a kind may be named there: to load one too many does no harm. */
export async function loadNamed(readers: readonly TargetReader[], text: string | undefined): Promise<void> {
  await Promise.all(readers.filter(({ kind }) => text?.includes(kind)).map((reader) => reader.load?.()));
}

function textOf(file: Parameters<typeof readOperatorFile>[0]): string | undefined {
  try {
    return readOperatorFile(file);
  } catch {
    return undefined;
  }
}
