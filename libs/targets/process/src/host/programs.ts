import { access, constants, stat } from 'node:fs/promises';
import { startFailure } from '@slipway/target-driver';
import { resolve } from 'node:path';
import type { ObservationReason, StartFailure } from '@slipway/contracts';

export interface HostNeeds {
  program: string;
  /** Folders that are searched for it first. */
  path: string[];
  /** The folder for relative names; the driver's own by default. */
  cwd?: string;
  /** Absolute; absent if the engine reads no file. A folder counts as well. */
  modelFile?: string;
}

/** Says why a start would fail, as far as that can be seen without a start; undefined if nothing is missing. */
export async function missingOnHost(
  { program, path, cwd = '.', modelFile }: HostNeeds,
  driver: { cwd: string; path: string },
): Promise<StartFailure | undefined> {
  const searched = [...path, driver.path].join(':');
  const file = await findProgram(program, searched, resolve(driver.cwd, cwd));
  if (file === undefined) return failure('program_not_found', `${program} was not found`);
  if (modelFile !== undefined && !(await isThere(modelFile)))
    return failure('model_missing', `${modelFile} does not exist or is not readable`);
  return undefined;
}

function failure(known: ObservationReason, text: string): StartFailure {
  return { ...startFailure({ code: null, signal: null, known }, [{ stream: 'stderr', text }]), log_tail: [] };
}

async function isThere(path: string): Promise<boolean> {
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
}

/**
 * @param path like the variable PATH; a name with a slash is not searched for
 * @param cwd the folder for relative paths
 * @returns the file of the program, or undefined if there is none that may be run
 */
export async function findProgram(name: string, path: string, cwd = '.'): Promise<string | undefined> {
  const folders = name.includes('/') ? ['.'] : path.split(':').filter(Boolean);
  for (const folder of folders) {
    const file = resolve(cwd, folder, name);
    if (await isProgram(file)) return file;
  }
  return undefined;
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
