import { appendFile, copyFile, open, readdir, rename, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { missingAs } from '../instances/instance-folder.js';

export const LOG_STREAMS = ['stdout', 'stderr'] as const;
export type LogStream = (typeof LOG_STREAMS)[number];

/** The suffix of a rotated log, and of the times of that log. */
export const ROTATED = '.1';
/**
 * The copy that becomes the rotated log after the log was truncated. A reader that finds another file there knows that
 * the log starts again.
 */
const COPY = '.1.part';
const FILE = /^([1-9]\d*)\.(?:stdout|stderr)\.(?:log|times)(?:\.1(?:\.part)?)?$/;
const KEPT_AFTER_MS = 7 * 86_400_000;
/**
 * Ended generations that keep their logs in addition to the first, because a crash loop must not remove its first
 * cause.
 */
const KEPT_LAST = 2;
/** After each step of this many bytes of recorded times, the interval between two times doubles. */
const TIMES_STEP_BYTES = 64 * 1024;

export function logName(generation: number, stream: LogStream): string {
  return `${generation}.${stream}.log`;
}

/**
 * The file next to a log that records the length of the log over time, with a line `<milliseconds> <bytes>` for each
 * time.
 */
export function timesName(generation: number, stream: LogStream): string {
  return `${generation}.${stream}.times`;
}

/** The previous release wrote all generations into one file for each stream, and engines that it started still do. */
export function oldLogName(stream: LogStream): string {
  return `${stream}.log`;
}

/** Opens the logs for appending, readable by the owner only. The caller closes both descriptors. */
export async function openLogs(folder: string, generation: number) {
  const [stdout, stderr] = await Promise.all(
    LOG_STREAMS.map((stream) => open(join(folder, logName(generation, stream)), 'a', 0o600)),
  );
  return { stdout: stdout!, stderr: stderr!, close: () => Promise.all([stdout!.close(), stderr!.close()]) };
}

/**
 * Checks the logs of a running generation once. It records their length and keeps each below `maxBytes`, except for the
 * output between two checks.
 * A full log becomes `<name>.1` and starts again. It is copied and truncated, not renamed, because the engine keeps its
 * descriptor; in append mode it continues at the new end. Output between the copy and the truncation is lost.
 */
export async function boundLogs(folder: string, generation: number, maxBytes: number): Promise<void> {
  for (const stream of LOG_STREAMS) {
    const own = await sizeOf(join(folder, logName(generation, stream)));
    const log = join(folder, own === undefined ? oldLogName(stream) : logName(generation, stream));
    const size = own ?? (await sizeOf(log)) ?? 0;
    const times = join(folder, timesName(generation, stream));
    if (own !== undefined) await noteTime(times, own);
    // Left by a worker that died before the last line.
    await rename(`${log}${COPY}`, `${log}${ROTATED}`).catch(missingAs(undefined));
    if (size <= maxBytes) continue;
    await copyFile(log, `${log}${COPY}`).catch(missingAs(undefined));
    await rename(times, `${times}${ROTATED}`).catch(missingAs(undefined));
    await truncate(log, 0).catch(missingAs(undefined));
    await rename(`${log}${COPY}`, `${log}${ROTATED}`).catch(missingAs(undefined));
  }
}

/**
 * Removes the logs of ended generations, except the first, the last two and `newest`, and every log that was not
 * written for a week.
 */
export async function pruneLogs(folder: string, newest: number): Promise<void> {
  const names = (await readdir(folder).catch(missingAs<string[]>([]))).flatMap((name) => {
    const generation = Number(FILE.exec(name)?.[1]);
    return generation < newest ? [{ name, generation }] : [];
  });
  const over = [...new Set(names.map(({ generation }) => generation))].sort((a, b) => a - b);
  const kept = new Set([...over.slice(0, 1), ...over.slice(-KEPT_LAST)]);
  for (const { name, generation } of names) {
    const path = join(folder, name);
    const written = (await stat(path).catch(missingAs(undefined)))?.mtimeMs ?? 0;
    if (!kept.has(generation) || Date.now() - written > KEPT_AFTER_MS) await rm(path, { force: true });
  }
}

/** Two workers may record the same check; a reader uses the first entry that is long enough. */
async function noteTime(path: string, size: number): Promise<void> {
  const noted = await stat(path).catch(missingAs(undefined));
  const everyMs = 1_000 * 2 ** Math.floor((noted?.size ?? 0) / TIMES_STEP_BYTES);
  if (size === 0 || (noted && Date.now() - noted.mtimeMs < everyMs)) return;
  await appendFile(path, `${Date.now()} ${size}\n`, { mode: 0o600 }).catch(missingAs(undefined));
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(missingAs(undefined)))?.size;
}
