import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { KubeConfigError } from './errors.js';

const MAX_BYTES = 1024 * 1024;

/**
 * Reads the text of a small file.
 *
 * @param advice added to the error if the file cannot be read
 * @throws KubeConfigError if the file cannot be read or is too long
 */
export function readBounded(file: string, advice: string): string {
  try {
    const opened = openSync(file, 'r');
    try {
      const stat = fstatSync(opened);
      if (!stat.isFile()) throw Object.assign(new Error('not a file'), { code: 'it is not a file' });
      if (stat.size > MAX_BYTES) throw Object.assign(new Error('too long'), { code: `longer than ${MAX_BYTES} bytes` });
      return readFileSync(opened, 'utf8');
    } finally {
      closeSync(opened);
    }
  } catch (error) {
    throw new KubeConfigError(file, `cannot be read (${(error as NodeJS.ErrnoException).code}): ${advice}`);
  }
}
