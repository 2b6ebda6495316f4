import { statSync } from 'node:fs';
import type { TargetReader } from './operator-config.js';
import { operatorFileOf, readOperatorFile } from './operator-settings.js';

/**
 * For entry points that read targets; called before `loadConfig`. Some kinds have code that most installations never
 * need. This loads the code of those that the operator's file names. Problems of the file are left to `loadConfig`.
 */
export async function loadKinds(
  readers: readonly TargetReader[],
  env: NodeJS.ProcessEnv = process.env,
  cwd: string = process.cwd(),
): Promise<void> {
  const file = operatorFileOf(env['SLIPWAY_CONFIG']?.trim() || undefined, cwd);
  // A pipe can be read only once, and `loadConfig` must do that.
  const isPipe = statSync(file.path, { throwIfNoEntry: false })?.isFile() === false;
  await Promise.all(isPipe ? readers.map((reader) => reader.load?.()) : [loadNamed(readers, textOf(file))]);
}

/** Only checks whether the text may name a kind, because loading one too many does no harm. */
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
