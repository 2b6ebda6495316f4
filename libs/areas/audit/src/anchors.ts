import { open } from 'node:fs/promises';
import { Logger } from '@nestjs/common';
import { newId } from '@slipway/platform-database';
import { headText } from './expected-heads.js';

/** The head of a tenant's chain, as it is kept outside the database. */
export interface Head {
  tenantId: string;
  sequence: number;
  hash: string;
  /** When its row was sealed, RFC 3339, by the clock of Postgres. */
  sealedAt: string;
}

/** A place for heads that who owns the database cannot write to. */
export interface Anchor {
  /** Resolves when all are kept; rejects if that is not sure. */
  keep(heads: readonly Head[]): Promise<void>;
}

/** JSON lines, for a file or an object. */
export function anchorLines(heads: readonly Head[]): string {
  return heads.map((head) => `${JSON.stringify({ at: head.sealedAt, audit_anchor: textOf(head) })}\n`).join('');
}

function textOf({ tenantId: tenant, sequence, hash }: Head): string {
  return headText({ tenant, sequence, hash });
}

/** Lines at info, for whatever collects the log. */
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

/** Lines are only added, for its owner's eyes, and on the disk before they count as kept. */
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

/** Names of objects follow the order of time. */
export function anchorName(): string {
  return `${newId('heads')}.jsonl`;
}
