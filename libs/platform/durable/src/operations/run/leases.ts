import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database } from '@slipway/platform-database';
import { Recurring, type Transact } from '../../scheduling/index.js';
import { FREE_OPERATIONS, RENEW_LEASES } from './run.query.js';

interface HeldLease {
  version: string;
  abort: AbortController;
}

/**
 * The leases that this process holds. One timer renews them all in one statement, three times per lease. If an
 * operation is missing from the answer, or its cancel is requested, its signal is aborted.
 */
@Injectable()
export class Leases implements OnModuleDestroy {
  readonly owner = `${process.pid}-${randomUUID()}`;
  readonly seconds: number;
  private readonly held = new Map<string, HeldLease>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'leaseSeconds'>,
    private readonly database: Database,
  ) {
    this.seconds = config.leaseSeconds;
    this.timer = setInterval(() => void this.renew(), (this.seconds * 1_000) / 3).unref();
  }

  take(operationId: string, version: string): AbortSignal {
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
    // In the order in which commits also take these rows.
    const entries = [...this.held].sort(([a], [b]) => (a < b ? -1 : 1));
    if (entries.length === 0) return;
    const values = [entries.map(([id]) => id), entries.map(([, held]) => held.version), this.seconds];
    // An outage of Postgres is no reason to stop: at the next commit the fence decides whether the lease was kept.
    const rows = await this.database
      .read<{ id: string; cancelRequested: boolean }>('system', RENEW_LEASES, values)
      .catch(() => undefined);
    if (!rows) return;
    const kept = new Map(rows.map((row) => [row.id, row.cancelRequested]));
    for (const [id, held] of entries) if (kept.get(id) !== false) held.abort.abort();
  }
}

/**
 * Makes the operations of dead workers due again. Every worker that polls finds what is due, even if wake-ups were
 * lost.
 */
@Injectable()
export class OperationRepair {
  @Recurring({ name: 'operations', everySeconds: 1, isRepair: true })
  async run(transact: Transact): Promise<void> {
    await transact('system', (tx) => tx.query(FREE_OPERATIONS));
  }
}
