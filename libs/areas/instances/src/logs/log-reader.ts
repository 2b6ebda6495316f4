import { LOGS_READ_CHANNEL } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import { Database, newId, type Tx } from '@slipway/platform-database';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { type LogLine, redactSecrets } from '@slipway/target-driver';
import { Raw } from 'typeorm';
import { instanceErrors } from './instance.errors.js';
import type { InstanceEntity } from '../workloads/instance.entity.js';
import { LogReadingEntity, type LogQuery } from './log-reading.entity.js';
import { REQUEST_LOG_READING, IS_TARGET_LED, TAKE_LOG_CHUNKS, type LogChunkRow } from './log-reading.query.js';

/** How long a worker may take to accept a reading. */
const ANSWER_TIMEOUT_MS = 5_000;
/** Time until the next check without a notification. Each check is also the reader's sign of life. */
const CHECK_MS = 500;

interface ReadingProgress {
  isServed: boolean;
  isLeft: boolean;
  chunks: LogChunkRow[];
}

/** Reads the output of instances from the worker that leads their target (`log-server.ts`). */
@Injectable()
export class LogReader {
  constructor(private readonly database: Database) {}

  @Recurring({ name: 'log-readings', everySeconds: 60 })
  async run(transact: Transact): Promise<void> {
    await transact('system', deleteAbandonedReadings);
  }

  /**
   * Resolves when a worker has accepted the reading. The lines end with the output or when the signal fires.
   * @throws logs_unavailable (503), also from the lines if the worker stops
   */
  async open(
    instance: Pick<InstanceEntity, 'id' | 'tenant_id' | 'target'>,
    query: LogQuery,
    signal: AbortSignal,
  ): Promise<AsyncIterable<LogLine>> {
    const chunks = this.chunks(instance, query, signal);
    // The first result shows that a worker has accepted the reading.
    const first = await chunks.next();
    return linesOf(first.done ? [] : first.value, chunks);
  }

  private async *chunks(
    { id: instanceId, tenant_id, target }: Pick<InstanceEntity, 'id' | 'tenant_id' | 'target'>,
    query: LogQuery,
    signal: AbortSignal,
  ): AsyncGenerator<LogLine[], void> {
    const [lead] = await this.database.read<{ leads: boolean }>('system', IS_TARGET_LED, [target]);
    if (!lead?.leads) throw unavailable(`no worker leads target ${target}`);
    const id = newId('log');
    const wake = new LogPause(signal);
    const unlisten = await this.database.listen(LOGS_READ_CHANNEL, (reading) => reading === id && wake.now());
    try {
      await this.database.tx('system', (tx) =>
        tx.query(REQUEST_LOG_READING, [id, tenant_id, target, instanceId, JSON.stringify(query)]),
      );
      const askedAt = performance.now();
      let isHeard = false;
      while (!signal.aborted) {
        const taken = await this.take(id);
        if (!taken) throw unavailable('the request expired');
        if (taken.isServed && !isHeard) yield [];
        isHeard ||= taken.isServed;
        for (const { lines, is_last: isLast, problem } of taken.chunks) {
          if (problem !== null) throw unavailable(problem);
          yield lines;
          if (isLast) return;
        }
        if (taken.isLeft) throw unavailable('the worker that read it has stopped');
        if (!isHeard && performance.now() - askedAt > ANSWER_TIMEOUT_MS)
          throw unavailable(`the worker that leads target ${target} does not respond, or serves too many readers`);
        if (taken.chunks.length === 0) await wake.within(CHECK_MS);
      }
    } finally {
      await unlisten();
      await this.database.tx('system', (tx) => tx.repository(LogReadingEntity).delete({ id })).catch(() => undefined);
    }
  }

  private async take(id: string): Promise<ReadingProgress | undefined> {
    return this.database.tx('system', (tx) => tx.one<ReadingProgress>(TAKE_LOG_CHUNKS, [id]));
  }
}

async function* linesOf(first: LogLine[], rest: AsyncGenerator<LogLine[], void>): AsyncGenerator<LogLine, void> {
  try {
    yield* first;
    for await (const lines of rest) for (const line of lines) yield { ...line, text: redactSecrets(line.text) };
  } finally {
    await rest.return();
  }
}

/** Deletes the readings of api processes that died. Their chunks are deleted with them. */
export async function deleteAbandonedReadings(tx: Tx): Promise<void> {
  const forgotten = Raw((seenAt) => `${seenAt} < clock_timestamp() - interval '1 minute'`);
  await tx.repository(LogReadingEntity).delete({ reader_seen_at: forgotten });
}

function unavailable(why: string) {
  return instanceErrors.logs_unavailable({ message: `The output cannot be read now: ${why}.` });
}

/** A pause that a notification ends, even a notification from before the pause. */
class LogPause {
  private isDue = false;
  private resolve?: () => void;

  constructor(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.now(), { once: true });
  }

  now(): void {
    this.isDue = true;
    this.resolve?.();
  }

  async within(ms: number): Promise<void> {
    if (!this.isDue) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.resolve = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.isDue = false;
  }
}
