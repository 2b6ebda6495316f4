import { open, readdir, readFile, stat, type FileHandle } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { LineReader, type LogLine, type LogOptions } from '@slipway/target-driver';
import { LOG_STREAMS, logName, oldLogName, ROTATED, timesName, type LogStream } from './engine-log.js';
import { missingAs } from '../instances/instance-folder.js';

const CHUNK_BYTES = 64 * 1024;
/** How often a followed log is read. */
const FOLLOW_MS = 200;
const LOG = /^([1-9]\d*)\.(?:stdout|stderr)\.log$/;

/**
 * Reads the output of one generation. The time of a line is that of the first check by a worker that saw it. While a
 * worker runs, it is late by at most the time between two checks. Lines that no worker saw have the file's own time.
 */
export async function* readLog(
  folder: string,
  generation: number,
  { stream, tail, since }: Pick<LogOptions, 'stream' | 'tail' | 'since'>,
  secrets: readonly string[],
): AsyncGenerator<LogLine> {
  yield* (await LogCursors.open(folder, generation, { stream, tail, since }, secrets)).lines();
}

/** Returns the last lines of both streams at once. */
export async function readLastLines(
  folder: string,
  generation: number,
  tail: number,
  secrets: readonly string[],
): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  for await (const line of readLog(folder, generation, { stream: 'both', tail }, secrets)) lines.push(line);
  return lines;
}

/** Like `readLog`, but also returns later output, including that of later generations, until the signal fires. */
export async function* followLog(
  folder: string,
  first: number,
  options: Pick<LogOptions, 'stream' | 'tail' | 'since' | 'signal'>,
  secrets: readonly string[],
): AsyncGenerator<LogLine> {
  const { signal, stream } = options;
  let generation = first;
  let cursors = await LogCursors.open(folder, generation, options, secrets);
  while (!signal.aborted) {
    // Read first: the worker that starts the next generation has ended this one, so nothing follows the lines that are
    // read below.
    const newest = (await loggedGenerations(folder)).at(0) ?? generation;
    yield* cursors.lines(newest === generation);
    if (newest > generation) {
      generation = newest;
      cursors = await LogCursors.open(folder, generation, { stream, tail: Infinity }, secrets);
      continue;
    }
    await delay(FOLLOW_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Returns the generations that have logs, newest first. */
export async function loggedGenerations(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch(missingAs<string[]>([]));
  const numbers = names.flatMap((name) => LOG.exec(name)?.[1] ?? []).map(Number);
  return [...new Set(numbers)].sort((a, b) => b - a);
}

/** Both streams of a generation, in the order in which they were written, as far as that is known. */
class LogCursors {
  private constructor(
    private readonly cursors: readonly LogCursor[],
    private skipped: number,
  ) {}

  static async open(
    folder: string,
    generation: number,
    { stream, tail, since }: Pick<LogOptions, 'stream' | 'tail' | 'since'>,
    secrets: readonly string[],
  ): Promise<LogCursors> {
    const wanted = LOG_STREAMS.filter((one) => stream === 'both' || stream === one);
    const cursors = wanted.map((one) => new LogCursor(folder, generation, one, secrets));
    const counts = await Promise.all(
      cursors.map((cursor) => cursor.seek(tail, since === undefined ? undefined : Date.parse(since))),
    );
    const count = counts.reduce((sum, one) => sum + one, 0);
    return new LogCursors(cursors, Math.max(0, count - tail));
  }

  /**
   * Returns lines up to the current end of the logs. `isOpen`: a line without an end may still get one, and is left for
   * later.
   */
  async *lines(isOpen = false): AsyncGenerator<LogLine> {
    const heads = await Promise.all(
      this.cursors.map(async (cursor) => {
        const lines = cursor.read(isOpen);
        return { lines, next: await lines.next() };
      }),
    );
    for (;;) {
      const left = heads.filter(({ next }) => !next.done);
      const first = left.reduce<(typeof left)[number] | undefined>(
        (best, one) => (best === undefined || timeOf(one.next.value) < timeOf(best.next.value) ? one : best),
        undefined,
      );
      if (!first) return;
      const line = first.next.value as LogLine;
      if (this.skipped > 0) this.skipped -= 1;
      else yield line;
      first.next = await first.lines.next();
    }
  }
}

function timeOf(line: LogLine | void): string {
  return (line as LogLine).at ?? '';
}

interface Piece {
  log: string;
  times: string;
}

/** A position in one log, which may be rotated meanwhile. */
class LogCursor {
  private readonly pieces: [rotated: Piece, current: Piece];
  private readonly line: LineReader;
  private piece: 0 | 1 = 1;
  private offset = 0;
  private lastAt: string | undefined;
  private rotated: number | undefined;

  constructor(
    folder: string,
    generation: number,
    private readonly stream: LogStream,
    secrets: readonly string[],
  ) {
    this.line = new LineReader(secrets);
    const log = join(folder, generation === 0 ? oldLogName(stream) : logName(generation, stream));
    const times = join(folder, timesName(generation, stream));
    this.pieces = [
      { log: `${log}${ROTATED}`, times: `${times}${ROTATED}` },
      { log, times },
    ];
  }

  /**
   * Called before anything is read. Moves to the first of the last `tail` lines that is not older than `since`; returns
   * the number of lines from there.
   */
  async seek(tail: number, since: number | undefined): Promise<number> {
    let count = 0;
    this.rotated = await inodeOf(this.pieces[0].log);
    for (const index of [1, 0] as const) {
      const found = await this.startIn(this.pieces[index], tail - count, since);
      if (found === undefined || (index === 0 && found.lines === 0)) break;
      this.piece = index;
      this.offset = found.offset;
      count += found.lines;
      if (found.offset > 0 || count >= tail) break;
    }
    // A rotation may have cut the first line in two: its end alone could be the end of a secret.
    const start = this.piece === 1 && this.offset === 0 ? await startOfUnended(this.pieces[0].log) : undefined;
    if (start !== undefined) [this.piece, this.offset] = [0, start];
    return count;
  }

  async *read(isOpen: boolean): AsyncGenerator<LogLine, void> {
    const rotated = await inodeOf(this.pieces[0].log);
    // The part that was unread when the log was truncated is now in the rotated log.
    if (this.piece === 1 && rotated !== this.rotated) this.piece = 0;
    this.rotated = rotated;
    if (this.piece === 0) {
      yield* this.readToEnd();
      this.piece = 1;
      this.offset = 0;
    }
    yield* this.readToEnd();
    const rest = isOpen ? undefined : this.line.rest();
    if (rest === undefined) return;
    yield { stream: this.stream, ...(this.lastAt === undefined ? {} : { at: this.lastAt }), text: rest };
  }

  private async *readToEnd(): AsyncGenerator<LogLine, void> {
    const { log, times } = this.pieces[this.piece];
    const file = await open(log).catch(missingAs(undefined));
    if (!file) return;
    try {
      const { size, mtime } = await file.stat();
      if (size <= this.offset) return;
      const noted = await readTimes(times);
      const written = mtime.toISOString();
      while (this.offset < size) {
        const chunk = await readAt(file, this.offset, Math.min(CHUNK_BYTES, size - this.offset));
        if (chunk.length === 0) return;
        const before = this.offset;
        // Set before the lines are returned, because a caller may stop between two of them.
        this.offset += chunk.length;
        for (const { text, end } of this.line.push(chunk))
          yield { stream: this.stream, at: timeAt(noted, before + end) ?? written, text };
        this.lastAt = timeAt(noted, this.offset) ?? written;
      }
    } finally {
      await file.close();
    }
  }

  private async startIn(
    { log, times }: Piece,
    tail: number,
    since: number | undefined,
  ): Promise<{ offset: number; lines: number } | undefined> {
    const file = await open(log).catch(missingAs(undefined));
    if (!file) return undefined;
    try {
      const { size, mtimeMs } = await file.stat();
      const from = since === undefined ? 0 : mtimeMs < since ? size : sizeBefore(await readTimes(times), since);
      return await startOfLast(file, Math.min(from, size), size, tail);
    } finally {
      await file.close();
    }
  }
}

/**
 * Returns the offset of the last `wanted` lines between `from` and `size`, and their number. A line that began before
 * `from` does not count.
 */
async function startOfLast(file: FileHandle, from: number, size: number, wanted: number) {
  let lines = 0;
  let offset = size;
  if (wanted <= 0) return { offset, lines };
  for (let end = size; end > from;) {
    const start = Math.max(from, end - CHUNK_BYTES);
    const chunk = await readAt(file, start, end - start);
    if (chunk.length === 0) break;
    for (let at = chunk.lastIndexOf(10); at >= 0; at = at === 0 ? -1 : chunk.lastIndexOf(10, at - 1)) {
      if (start + at + 1 === size) continue;
      offset = start + at + 1;
      lines += 1;
      if (lines >= wanted) return { offset, lines };
    }
    end = start;
  }
  if (size > from && (from === 0 || (await readAt(file, from - 1, 1))[0] === 10))
    return { offset: from, lines: lines + 1 };
  return { offset, lines };
}

/** Returns the offset of the last line of a file, if the line has no end. */
async function startOfUnended(log: string): Promise<number | undefined> {
  const file = await open(log).catch(missingAs(undefined));
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    if (size === 0 || (await readAt(file, size - 1, 1))[0] === 10) return undefined;
    return (await startOfLast(file, 0, size, 1)).offset;
  } finally {
    await file.close();
  }
}

async function inodeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(missingAs(undefined)))?.ino;
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
  return buffer.subarray(0, bytesRead);
}

interface NotedTime {
  at: number;
  size: number;
}

/** Skips a line that was incomplete when its worker died. */
async function readTimes(path: string): Promise<NotedTime[]> {
  const text = await readFile(path, 'utf8').catch(missingAs(''));
  return text.split('\n').flatMap((line) => {
    const [, at, size] = /^(\d{13}) (\d+)$/.exec(line) ?? [];
    return at === undefined ? [] : [{ at: Number(at), size: Number(size) }];
  });
}

/** Within one file sizes only grow, except if two workers record the same check. */
function timeAt(times: readonly NotedTime[], end: number): string | undefined {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]!.size < end) low = middle + 1;
    else high = middle;
  }
  const seen = times[low];
  return seen && new Date(seen.at).toISOString();
}

function sizeBefore(times: readonly NotedTime[], since: number): number {
  return times.reduce((size, one) => (one.at < since ? Math.max(size, one.size) : size), 0);
}
