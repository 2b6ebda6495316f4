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

/** Credentials in it are sealed and tokens are hashes; still nobody but the owner may read it. */
export interface StoredSnapshot {
  format: typeof FORMAT;
  saved_at: string;
  routes: RouteRow[];
  backends: BackendRow[];
  slugs: PublishedRow[];
  revoked_passports: string[];
  tokens: StoredToken[];
}

/** The last known good snapshot on disk: what a gateway serves that starts while Postgres is away. */
export class SnapshotFile {
  private readonly file: string;
  private timer: NodeJS.Timeout | null = null;
  private writing: Promise<void> | null = null;
  /** Something changed since the running write took its content. */
  private isStale = false;

  constructor(
    home: string,
    private readonly content: () => Omit<StoredSnapshot, 'format' | 'saved_at'>,
    private readonly log: Log,
  ) {
    const folder = path.join(home, 'gateway');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.file = path.join(folder, 'snapshot.json');
  }

  /** Null when there is none, or none that can be read: a wrong guess would be worse than waiting for Postgres. */
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

  /** Writes the present content soon. */
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
    while (this.writing) await this.writing;
  }

  /** One write at a time, whatever changes meanwhile: a large snapshot takes longer than the next change to come. */
  private write(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    this.isStale = false;
    this.writing = this.replace()
      .catch((error: unknown) =>
        this.log.error({ file: this.file, error: String(error) }, 'the snapshot cannot be written'),
      )
      .finally(() => {
        this.writing = null;
        if (this.isStale) this.write();
      });
  }

  /** A reader, or a crash at any point, sees the old file or the new one. */
  private async replace(): Promise<void> {
    const stored: StoredSnapshot = { format: FORMAT, saved_at: new Date().toISOString(), ...this.content() };
    // Two processes may share the folder while one takes over from the other; in containers both have the same pid.
    const temporary = `${this.file}.${randomUUID()}.tmp`;
    try {
      const handle = await open(temporary, 'w', 0o600);
      try {
        await handle.writeFile(JSON.stringify(stored));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, this.file);
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
  }
}
