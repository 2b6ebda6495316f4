import { Injectable, Logger, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import { NOTE_TOKEN_USES } from './token.query.js';

const FLUSH_EVERY_MS = 5_000;

/** Collects the uses of tokens and writes them together, away from the path of any request. */
@Injectable()
export class TokenUses implements OnModuleDestroy, OnApplicationShutdown {
  private readonly logger = new Logger('tokens');
  private readonly pending = new Map<string, Date>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly database: Database) {}

  note(tokenId: string): void {
    this.pending.set(tokenId, new Date());
    if (this.timer) return;
    this.timer = setTimeout(() => void this.flush(), FLUSH_EVERY_MS);
    this.timer.unref();
  }

  /** Writes what is pending. A failure loses a time of use, which is not worth a retry. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.pending.size === 0) return;
    const uses = [...this.pending];
    this.pending.clear();
    try {
      await this.database.read('system', NOTE_TOKEN_USES, [uses.map(([id]) => id), uses.map(([, at]) => at)]);
    } catch (failure) {
      this.logger.warn(`the last use of ${uses.length} tokens was not stored: ${String(failure)}`);
    }
  }

  async onModuleDestroy(): Promise<void> {
    await this.flush();
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }
}
