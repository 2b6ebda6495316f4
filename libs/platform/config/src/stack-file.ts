import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The settings that `npm start` passes to the processes of the embedded stack. `secretKey`: 32 bytes in base64. */
export interface StackFile {
  databaseUrl: string;
  migrateUrl: string;
  /** Absent in the file of an older version. */
  gatewayUrl?: string;
  secretKey: string;
}

const fileOf = (home: string): string => path.join(home, 'run', 'stack.json');

/**
 * Returns undefined if no stack was started under `home`, or if the file is unreadable or damaged: the next `npm start`
 * rewrites it.
 */
export function readStackFile(home: string): StackFile | undefined {
  try {
    const parsed: unknown = JSON.parse(readFileSync(fileOf(home), 'utf8'));
    if (parsed === null || typeof parsed !== 'object') return undefined;
    const { databaseUrl, migrateUrl, gatewayUrl, secretKey } = parsed as Partial<Record<keyof StackFile, unknown>>;
    if (typeof databaseUrl !== 'string' || typeof migrateUrl !== 'string' || typeof secretKey !== 'string')
      return undefined;
    if (Buffer.from(secretKey, 'base64').length !== 32) return undefined;
    return { databaseUrl, migrateUrl, secretKey, ...(typeof gatewayUrl === 'string' ? { gatewayUrl } : {}) };
  } catch {
    return undefined;
  }
}

/** Writes the file with mode 0600, completely or not at all. */
export function writeStackFile(home: string, stack: StackFile): void {
  const file = fileOf(home);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, `${JSON.stringify(stack)}\n`, { mode: 0o600 });
  chmodSync(`${file}.new`, 0o600);
  renameSync(`${file}.new`, file);
}

/** Removes the file after a clean stop, so that a process that is started by hand reports plainly that nothing runs. */
export function removeStackFile(home: string): void {
  rmSync(fileOf(home), { force: true });
}
