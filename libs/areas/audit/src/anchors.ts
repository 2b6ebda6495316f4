import { open } from 'node:fs/promises';
import { Logger } from '@nestjs/common';
import { newId } from '@slipway/platform-database';
import { headText } from './expected-heads.js';

/** The head of a tenant's chain, as an anchor outside the database stores it. */
export interface Head {
  tenantId: string;
  sequence: number;
  hash: string;
  /** Time at which its row was sealed, RFC 3339, by the clock of Postgres. */
  sealedAt: string;
}

/** A store for heads that the owner of the database cannot write to. */
export interface Anchor {
  /** Resolves when the store has kept all heads. Rejects if that is not certain. */
  keep(heads: readonly Head[]): Promise<void>;
}

/** Renders heads as JSON lines, for a file or an object. */
export function anchorLines(heads: readonly Head[]): string {
  return heads.map((head) => `${JSON.stringify({ at: head.sealedAt, audit_anchor: textOf(head) })}\n`).join('');
}

function textOf({ tenantId: tenant, sequence, hash }: Head): string {
  return headText({ tenant, sequence, hash });
}

/** Writes heads as lines at level info, for the service that collects the log. */
export class LogAnchor implements Anchor {
  private readonly logger = new Logger('audit');

  constructor(level: string) {
    if (!['trace', 'debug', 'info'].includes(level))
      this.logger.warn(
        `SLIPWAY_LOG_LEVEL=${level} suppresses the heads of the audit chains, which are logged at info. Set it to info, debug or trace`,
      );
  }

  async keep(heads: readonly Head[]): Promise<void> {
    for (const head of heads) this.logger.log('audit head', { audit_anchor: textOf(head) });
  }
}

/** Appends lines to a file that only its owner can read. A line is on the disk before it counts as kept. */
export class FileAnchor implements Anchor {
  constructor(private readonly path: string) {}

  async keep(heads: readonly Head[]): Promise<void> {
    const file = await open(this.path, 'a', 0o600);
    try {
      await file.appendFile(anchorLines(heads));
      await file.sync();
    } finally {
      await file.close();
    }
  }
}

/** Returns a name for an object. Names sort in the order of time. */
export function anchorName(): string {
  return `${newId('heads')}.jsonl`;
}
