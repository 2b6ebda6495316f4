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
 * `<home>/logs/slipway.log`, for what a stack and its processes say: five files of 10 MiB at most, readable by their owner alone. Written
 * at once, as the last line before an end is the one that explains it. A disk that is full ends the log and nothing else.
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
      // There are not so many yet.
    }
  }
}
