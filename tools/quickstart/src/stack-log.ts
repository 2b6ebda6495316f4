import { chmodSync, closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import path from 'node:path';

const MAX_BYTES = 10 * 2 ** 20;
const KEPT_FILES = 5;
const MAX_LINE = 64 * 2 ** 10;

export interface StackLog {
  file: string;
  write(line: string): void;
}

/**
 * `<home>/logs/slipway.log`, for the output of a stack and its processes: at most five files of 10 MiB, which only
 * their owner can read. Lines are written at once, because the last line before an end explains it. A full disk stops
 * only the log.
 * @param maxBytes of one file
 */
export function openStackLog(home: string, maxBytes = MAX_BYTES): StackLog {
  const file = path.join(home, 'logs', 'slipway.log');
  let open: { fd: number; bytes: number } | undefined;
  const reopen = (): { fd: number; bytes: number } => {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    const fd = openSync(file, 'a', 0o600);
    chmodSync(file, 0o600);
    return { fd, bytes: fstatSync(fd).size };
  };
  const write = (line: string): void => {
    try {
      open ??= reopen();
      if (open.bytes > maxBytes) {
        closeSync(open.fd);
        open = undefined;
        rotate(file);
        open = reopen();
      }
      open.bytes += writeSync(open.fd, `${line.slice(0, MAX_LINE)}\n`);
    } catch {
      // The next line tries again.
    }
  };
  return { file, write };
}

function rotate(file: string): void {
  for (let number = KEPT_FILES - 1; number >= 1; number -= 1) {
    try {
      renameSync(number === 1 ? file : `${file}.${number - 1}`, `${file}.${number}`);
    } catch {
      // There are fewer files so far.
    }
  }
}
