import { access, constants, stat } from 'node:fs/promises';
import { resolve } from 'node:path';

/**
 * @param path as the variable PATH; a name with a slash is not searched for
 * @param cwd against which what is relative resolves
 * @returns the file of the program, or undefined where there is none that may be run
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
