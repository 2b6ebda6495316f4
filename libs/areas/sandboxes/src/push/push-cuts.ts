import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import { REVOCATIONS_CHANNEL } from '../references/reference.query.js';

/** Cuts the transfers of this process to an external sandbox as soon as its reference is revoked. */
@Injectable()
export class PushCuts implements OnModuleDestroy {
  private readonly running = new Map<string, Set<AbortController>>();
  private listening?: Promise<() => Promise<void>>;

  constructor(private readonly database: Database) {}

  /**
   * Runs `work` with a signal that a revocation aborts. It listens before `work` reads the reference, so that it misses
   * no revocation.
   */
  async guard<T>(referenceId: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.listening ??= this.database.listen(REVOCATIONS_CHANNEL, (id) => this.cut(id));
    await this.listening;
    const cut = new AbortController();
    const others = this.running.get(referenceId) ?? new Set();
    this.running.set(referenceId, others.add(cut));
    try {
      return await work(cut.signal);
    } finally {
      others.delete(cut);
      if (others.size === 0 && this.running.get(referenceId) === others) this.running.delete(referenceId);
    }
  }

  async onModuleDestroy(): Promise<void> {
    await (
      await this.listening?.catch(() => undefined)
    )?.();
  }

  private cut(referenceId: string): void {
    for (const controller of this.running.get(referenceId) ?? []) controller.abort();
  }
}
