import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { actorText, systemActor, type Actor } from '@slipway/contracts';
import { Database } from '@slipway/platform-database';
import { requestContext } from '@slipway/platform-http';
import { counter } from '@slipway/platform-observability';
import { countReads, readKey, type ListingReads } from './read-listing.js';

/** A read that the audit log records. */
export interface AuditedRead {
  tenantId: string;
  /** Noun and verb, such as `plan.read`, `secret.used` or `logs.read`. */
  action: string;
  resourceType: string;
  resourceName: string;
  /**
   * The actor, if there is no request that has one: a part of the product, acting for what its id names
   * (`systemActor('revision/rev_1')`).
   */
  actor?: Actor;
}

const FLUSH_EVERY_MS = 1_000;
const BATCH = 500;
/** Maximum number of different keys that wait to be written. */
const MAX_PENDING = 10_000;

const lost = counter('slipway_audit_reads_lost_total', 'Audited reads that are missing from the audit log');

/**
 * Records important reads in the audit log. They are counted here and written together once a second, outside of any
 * request, so a read neither waits for its row nor fails with it. Postgres decides which reads become rows: the first
 * of a (tenant, actor, action, resource), and then at most one row an hour with the number of reads.
 */
@Injectable()
export class ReadAudit implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('audit');
  private readonly pending = new Map<string, ListingReads>();
  private timer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> = Promise.resolve();
  private beyond = 0;

  constructor(private readonly database: Database) {}

  /**
   * Counts one read; returns at once and never throws. Actor and request id come from the request, as with
   * `appendAudit`.
   */
  record({ tenantId, action, resourceType, resourceName, actor }: AuditedRead): void {
    const request = requestContext();
    const by = actorText(actor ?? request.principal?.actor ?? systemActor('slipway'));
    const what = { tenantId, actor: by, action, resourceType, resourceName };
    const key = readKey(what);
    const known = this.pending.get(key);
    if (known) known.reads += 1;
    else if (this.pending.size >= MAX_PENDING) this.beyond += 1;
    else this.pending.set(key, { ...what, reads: 1, requestId: request.requestId || null });
  }

  /**
   * Resolves when all reads recorded so far are written or lost; never rejects. It is for callers that must not
   * continue before that, such as a worker that is about to use a secret. Do not call it in a transaction: it opens one
   * of its own.
   */
  flush(): Promise<void> {
    this.flushing = this.flushing.then(() => this.write());
    return this.flushing;
  }

  /**
   * The timer starts here, because a timer that the first read starts would write in the context of its request and its
   * transaction.
   */
  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), FLUSH_EVERY_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  private async write(): Promise<void> {
    const all = [...this.pending.values()];
    this.pending.clear();
    if (this.beyond > 0) this.lose(this.beyond, `${MAX_PENDING} other reads were waiting to be written`);
    this.beyond = 0;
    for (let at = 0; at < all.length; at += BATCH) {
      const some = all.slice(at, at + BATCH);
      await this.database
        .tx('system', (tx) => countReads(tx, some))
        .catch((failure: Error) =>
          this.lose(
            some.reduce((sum, one) => sum + one.reads, 0),
            failure.message,
          ),
        );
    }
  }

  private lose(reads: number, why: string): void {
    lost.inc(reads);
    this.logger.error(`${reads} reads are missing from the audit log: ${why}`);
  }
}
