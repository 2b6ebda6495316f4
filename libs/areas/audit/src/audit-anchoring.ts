import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { FIRST_AUDIT_HASH } from '@slipway/contracts';
import { CONFIG, type Config } from '@slipway/platform-config';
import { counter } from '@slipway/platform-observability';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { FileAnchor, LogAnchor, type Anchor, type Head } from './anchors.js';
import { CLAIM_ANCHORS, NOTE_ANCHORS } from './audit.query.js';

const BATCH = 500;
const MAX_BATCHES = 20;
/** A disk that hangs never answers, and would delay the end of the process. */
const LIMIT_MS = 20_000;

type AnchorConfig = Pick<Config, 'audit' | 'upload' | 'logLevel'>;

interface Claim extends Head {
  /** Sequence of the head that was kept last; null if none was. */
  anchored: number | null;
  dueAt: string;
}

const failures = counter(
  'slipway_audit_anchor_failures_total',
  'Failed attempts to store heads of audit chains outside the database',
);

/**
 * Keeps the heads of the chains outside the database: each tenant's at most once a minute, and only if it changed. The
 * owner of the database can cut a chain or have it sealed again, and only a copy out of reach shows that. Anchoring
 * never blocks sealing.
 */
@Injectable()
export class AuditAnchoring {
  private readonly logger = new Logger('audit');
  private anchor: Anchor | undefined;

  constructor(@Inject(CONFIG) private readonly config: AnchorConfig) {}

  @Recurring({ name: 'audit-anchor', everySeconds: 5 })
  async run(transact: Transact): Promise<void> {
    for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
      const claims = await transact('system', (tx) => tx.query<Claim>(CLAIM_ANCHORS, [FIRST_AUDIT_HASH, BATCH]));
      for (const claim of claims) this.sayIfItWentBack(claim);
      if (claims.length > 0 && (await this.keep(claims)))
        await transact('system', (tx) => tx.query(NOTE_ANCHORS, noted(claims)));
      if (claims.length < BATCH) return;
    }
  }

  /** A head that could not be kept is due again in a minute. */
  private async keep(heads: readonly Head[]): Promise<boolean> {
    try {
      this.anchor ??= await createAnchor(this.config);
      await within(LIMIT_MS, this.anchor.keep(heads));
      return true;
    } catch (failure) {
      failures.inc();
      this.logger.error(
        `Could not store the heads of ${heads.length} audit chains in ${this.config.audit.anchor}; the next attempt is in a minute: ${(failure as Error).message}`,
      );
      return false;
    }
  }

  private sayIfItWentBack({ tenantId, sequence, anchored }: Claim): void {
    if (anchored !== null && sequence <= anchored)
      this.logger.error(
        `The audit chain of ${tenantId} was cut or rewritten: its head was at row ${anchored} and is now at row ${sequence} with a different hash. Compare it with the stored heads: audit-verify --anchors <file>`,
      );
  }
}

/** @returns the anchor that `SLIPWAY_AUDIT_ANCHOR` names */
async function createAnchor({ audit, upload, logLevel }: AnchorConfig): Promise<Anchor> {
  if (audit.anchor === 'log') return new LogAnchor(logLevel);
  if (audit.anchor.startsWith('file:')) return new FileAnchor(audit.anchor.slice('file:'.length));
  // Loaded on demand, because the AWS client is large.
  const { S3Anchor } = await import('./s3-anchor.js');
  return new S3Anchor(audit.anchor, upload.s3);
}

function noted(claims: readonly Claim[]): unknown[] {
  return [
    claims.map((one) => one.tenantId),
    claims.map((one) => one.sequence),
    claims.map((one) => one.hash),
    claims.map((one) => one.dueAt),
  ];
}

async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  const done = new AbortController();
  const late = delay(limitMs, undefined, { signal: done.signal, ref: false }).then(() => {
    throw new Error(`no response within ${limitMs / 1_000} s`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    late.catch(() => undefined);
    done.abort();
  }
}
