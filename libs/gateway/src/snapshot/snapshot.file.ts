import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { open, rename, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { BackendRow, PublishedRow, RouteRow } from '@slipway/dataplane';
import type { Log } from '../log.js';
import type { StoredToken } from '../tokens/token-book.js';

const FORMAT = 1;
/** Changes come in bursts; one write may carry them all. */
const GATHER_MS = 50;
/**
 * Each write contains everything, however little has changed. The pause after it is this many times as long as its text
 * took, so that other work gets its share.
 */
const RESTS = 9;
/** Longest pause between writes. A gateway that is killed, and restarts while Postgres is down, lacks later changes. */
const LONGEST_REST_MS = 5_000;
/** Characters of text that are made at once, apart from the last row: no request is served meanwhile. */
const CHARACTERS_AT_ONCE = 16 * 1024;

/** Credentials in it are sealed and tokens are hashes. Even so, only the owner may read the file. */
export interface StoredSnapshot {
  format: typeof FORMAT;
  saved_at: string;
  routes: RouteRow[];
  backends: BackendRow[];
  slugs: PublishedRow[];
  revoked_passports: string[];
  tokens: StoredToken[];
}

/** The last known good snapshot on disk. A gateway that starts while Postgres is down serves it. */
export class SnapshotFile {
  private readonly file: string;
  private timer: NodeJS.Timeout | null = null;
  private writing: Promise<void> | null = null;
  /** Something changed after the running write took its content. */
  private isStale = false;
  private endRest: () => void = () => undefined;
  /** Callers that wait until everything is on disk. */
  private hurries = 0;

  constructor(
    home: string,
    private readonly content: () => Omit<StoredSnapshot, 'format' | 'saved_at'>,
    private readonly log: Log,
  ) {
    const folder = path.join(home, 'gateway');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.file = path.join(folder, 'snapshot.json');
  }

  /** Returns null if there is no readable snapshot: a wrong guess would be worse than waiting for Postgres. */
  load(): StoredSnapshot | null {
    try {
      const stored = JSON.parse(readFileSync(this.file, 'utf8')) as StoredSnapshot;
      return stored.format === FORMAT ? stored : null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.log.warn({ file: this.file }, 'the stored snapshot cannot be read');
      return null;
    }
  }

  /** Schedules a write of the current content. */
  save(): void {
    if (this.writing) {
      this.isStale = true;
      return;
    }
    this.timer ??= setTimeout(() => this.write(), GATHER_MS);
  }

  /** Resolves when everything saved so far is on disk. */
  async flush(): Promise<void> {
    if (this.timer) this.write();
    this.hurries += 1;
    this.endRest();
    while (this.writing) await this.writing;
    this.hurries -= 1;
  }

  /** Runs one write at a time: a large snapshot takes longer to write than the next change to arrive. */
  private write(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    this.isStale = false;
    this.writing = this.replace()
      .then((textMs) => this.rest(Math.min(LONGEST_REST_MS, RESTS * textMs)))
      .catch((error: unknown) =>
        this.log.error({ file: this.file, error: String(error) }, 'the snapshot cannot be written'),
      )
      .finally(() => {
        this.writing = null;
        if (this.isStale) this.write();
      });
  }

  private async rest(ms: number): Promise<void> {
    if (this.hurries > 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.endRest = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /**
   * Replaces the file atomically: a reader sees the old or the new file, even after a crash.
   * @returns milliseconds spent on the text, without the disk
   */
  private async replace(): Promise<number> {
    const begin = performance.now();
    let textMs: number;
    const stored: StoredSnapshot = { format: FORMAT, saved_at: new Date().toISOString(), ...this.content() };
    // Two processes may share the folder while one takes over from the other; in containers both have the same pid.
    const temporary = `${this.file}.${randomUUID()}.tmp`;
    try {
      const handle = await open(temporary, 'w', 0o600);
      try {
        // Each piece is appended to the previous one.
        for (const piece of piecesOf(stored)) await handle.writeFile(piece);
        textMs = performance.now() - begin;
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, this.file);
      return textMs;
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
  }
}

/**
 * Yields the snapshot's JSON, a bounded text at a time. Rows are replaced and never changed, so the text shows one moment.
 */
export function* piecesOf(stored: StoredSnapshot): Generator<string> {
  let before = '{';
  for (const [key, value] of Object.entries(stored) as [string, unknown][]) {
    yield `${before}${JSON.stringify(key)}:`;
    if (Array.isArray(value)) yield* piecesOfList(value);
    else yield JSON.stringify(value);
    before = ',';
  }
  yield '}';
}

function* piecesOfList(rows: readonly unknown[]): Generator<string> {
  let piece = '[';
  for (const [index, row] of rows.entries()) {
    piece += (index === 0 ? '' : ',') + JSON.stringify(row);
    if (piece.length < CHARACTERS_AT_ONCE) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}]`;
}
