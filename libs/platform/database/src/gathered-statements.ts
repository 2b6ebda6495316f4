import type { Setwise } from './statement.js';

type Send = (records: readonly object[]) => Promise<object[][]>;

interface Asked {
  records: readonly object[];
  resolve(rows: object[][]): void;
  reject(error: unknown): void;
}

/**
 * What those who share a transaction ask in one turn of the event loop: the same of several is one statement. Statements leave in the order
 * in which the first asked for each, so whoever asks for one before another has it answered before.
 */
export class GatheredStatements {
  private waiting = new Map<Setwise, { send: Send; asked: Asked[] }>();
  private hasEnded = false;

  ask(set: Setwise, records: readonly object[], send: Send): Promise<object[][]> {
    return new Promise((resolve, reject) => {
      if (this.hasEnded) return reject(new Error('the transaction has ended'));
      // Behind everything that an answer set going.
      if (this.waiting.size === 0) setImmediate(() => this.sendAll());
      const together = this.waiting.get(set) ?? { send, asked: [] };
      this.waiting.set(set, together);
      together.asked.push({ records, resolve, reject });
    });
  }

  /** Nothing is sent any more: the connection is about to be another's. */
  end(): void {
    this.hasEnded = true;
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const { asked } of waiting) for (const { reject } of asked) reject(new Error('the transaction has ended'));
  }

  private sendAll(): void {
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const { send, asked } of waiting) void this.sendOne(send, asked);
  }

  private async sendOne(send: Send, asked: readonly Asked[]): Promise<void> {
    try {
      const rows = await send(asked.flatMap(({ records }) => records));
      let first = 0;
      for (const { records, resolve } of asked) resolve(rows.slice(first, (first += records.length)));
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}
