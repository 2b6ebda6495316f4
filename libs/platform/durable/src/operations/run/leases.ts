import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database } from '@slipway/platform-database';
import { HEARTBEAT } from './run.query.js';

interface Held {
  version: string;
  abort: AbortController;
}

/**
 * The leases this process holds. One timer renews them all in one statement, three times per lease; an operation that is
 * gone from the answer, or wants to be cancelled, has its signal aborted.
 */
@Injectable()
export class Leases implements OnModuleDestroy {
  readonly owner = `${process.pid}-${randomUUID()}`;
  readonly seconds: number;
  private readonly held = new Map<string, Held>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'leaseSeconds'>,
    private readonly database: Database,
  ) {
    this.seconds = config.leaseSeconds;
    this.timer = setInterval(() => void this.renew(), (this.seconds * 1_000) / 3).unref();
  }

  hold(operationId: string, version: string): AbortSignal {
    const abort = new AbortController();
    this.held.set(operationId, { version, abort });
    return abort.signal;
  }

  drop(operationId: string, version: string): void {
    if (this.held.get(operationId)?.version === version) this.held.delete(operationId);
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  private async renew(): Promise<void> {
    // In the order in which commits take these rows too.
    const entries = [...this.held].sort(([a], [b]) => (a < b ? -1 : 1));
    if (entries.length === 0) return;
    const values = [entries.map(([id]) => id), entries.map(([, held]) => held.version), this.seconds];
    // Postgres being away is no reason to stop: the fence decides at the next commit whether the lease was kept.
    const rows = await this.database
      .read<{ id: string; cancelRequested: boolean }>('system', HEARTBEAT, values)
      .catch(() => undefined);
    if (!rows) return;
    const kept = new Map(rows.map((row) => [row.id, row.cancelRequested]));
    for (const [id, held] of entries) if (kept.get(id) !== false) held.abort.abort();
  }
}
