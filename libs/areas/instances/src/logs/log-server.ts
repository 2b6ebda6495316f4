import { Logger } from '@nestjs/common';
import { joinSignals } from '@slipway/contracts';
import type { OperatorConfig } from '@slipway/platform-config';
import type { Database } from '@slipway/platform-database';
import { redactor, type LogLine, type Redactor } from '@slipway/target-driver';
import { CLAIM_LOG_READING, ADD_LOG_CHUNK, CONFIRM_LOG_READING, type LogReadingRow } from './log-reading.query.js';
import { InstanceEntity } from '../workloads/instance.entity.js';
import { valuesIn } from '../access/tenant-access.js';
import type { Target } from '../catalog/target-catalog.js';
import type { TargetLeadership } from '../catalog/target-leadership.js';
import { storableText } from '../workloads/stored-text.js';
import { WorkloadEntity } from '../workloads/workload.entity.js';

/**
 * Readings that a worker serves at a time: of one target, and of one tenant on it. When none is free, the reader gets
 * an error and can retry.
 */
const AT_ONCE = 64;
const AT_ONCE_OF_TENANT = 16;
const CHUNK_BYTES = 64 * 1024;
const LINE_CHARACTERS = 16 * 1024;
/** How long a line may wait for others to be sent with it. */
const GATHER_MS = 100;
const FULL_CHECK_MS = 50;

/**
 * Reads the output of a target's instances for the requests in `log_readings`. The files are on the worker's host, and
 * the api may be on another. Each request has its own reading. It is bounded by what its reader has not taken yet, and
 * ends if the reader gives no sign of life.
 */
export class LogServer {
  private readonly logger = new Logger('targets');
  private readonly running = new Map<string, { tenantId: string; done: Promise<void> }>();
  private readonly stopping = new AbortController();
  private claiming: Promise<void> = Promise.resolve();

  constructor(
    private readonly target: Target,
    private readonly leadership: TargetLeadership,
    private readonly operator: OperatorConfig,
    private readonly database: Database,
    private readonly signMs: number,
  ) {}

  /** Checks for new readings, after a notification or when one may have been missed. */
  look(): void {
    this.claiming = this.claiming.then(() => this.claim()).catch((error: unknown) => this.complain(error));
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.claiming;
    await Promise.all([...this.running.values()].map(({ done }) => done));
  }

  private async claim(): Promise<void> {
    while (this.target.driver.logs && this.leadership.leads && !this.stopping.signal.aborted) {
      if (this.running.size >= AT_ONCE) return;
      const values = [this.target.config.name, this.busyTenants()];
      const reading = await this.database.tx('system', (tx) => tx.one<LogReadingRow>(CLAIM_LOG_READING, values));
      if (!reading) return;
      const done = this.serve(reading)
        .catch((error: unknown) => this.complain(error))
        .then(() => void this.running.delete(reading.id));
      this.running.set(reading.id, { tenantId: reading.tenant_id, done });
    }
  }

  private busyTenants(): string[] {
    const counts = new Map<string, number>();
    for (const { tenantId } of this.running.values()) counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
    return [...counts].filter(([, count]) => count >= AT_ONCE_OF_TENANT).map(([tenantId]) => tenantId);
  }

  private async serve({ id, instance_id, options }: LogReadingRow): Promise<void> {
    const secrets = await this.secretsOf(instance_id);
    const ended = new AbortController();
    const { signal, stop } = joinSignals(ended.signal, this.stopping.signal);
    const handing = new ChunkWriter(this.database, id, redactor(secrets), signal);
    const signs = setInterval(() => {
      void this.isAsked(id).then((isAsked) => isAsked || ended.abort());
    }, this.signMs);
    try {
      const lines = this.target.driver.logs?.(instance_id, { ...options, signal, secrets });
      if (lines) await handing.all(lines);
    } catch (error) {
      this.complain(error);
      await handing.end('the output cannot be read');
    } finally {
      clearInterval(signs);
      ended.abort();
      stop();
    }
  }

  /** If the check fails, the reader counts as still there. */
  private async isAsked(id: string): Promise<boolean> {
    const rows = await this.database.tx('system', (tx) => tx.query(CONFIRM_LOG_READING, [id])).catch(() => [id]);
    return rows.length > 0;
  }

  /** Returns the secret values of the instance, because an engine may print anything that it has. */
  private async secretsOf(instanceId: string): Promise<string[]> {
    const workload = await this.database.tx('system', async (tx) => {
      const instance = await tx.repository(InstanceEntity).findOneBy({ id: instanceId });
      return instance && tx.repository(WorkloadEntity).findOneBy({ revision_id: instance.revision_id });
    });
    return workload ? valuesIn(this.operator, workload.spec) : [];
  }

  private complain(error: unknown): void {
    const trouble = error instanceof Error ? error.message : String(error);
    this.logger.warn(`target ${this.target.config.name}, reading output: ${trouble}`);
  }
}

/**
 * Sends lines to one reader: gathers them briefly, redacts and cuts them, and holds them back while the reader takes
 * none.
 */
class ChunkWriter {
  private sequence = 0;
  private lines: LogLine[] = [];
  private bytes = 0;

  constructor(
    private readonly database: Database,
    private readonly id: string,
    private readonly redact: Redactor,
    private readonly signal: AbortSignal,
  ) {}

  async all(lines: AsyncIterable<LogLine>): Promise<void> {
    const source = lines[Symbol.asyncIterator]();
    try {
      let next = source.next();
      for (;;) {
        const got = this.lines.length === 0 ? await next : await Promise.race([next, pause(GATHER_MS)]);
        if (this.signal.aborted) return;
        if (got === undefined) {
          await this.flush();
          continue;
        }
        if (got.done) return await this.end(null);
        this.add(got.value);
        if (this.bytes >= CHUNK_BYTES) await this.flush();
        next = source.next();
      }
    } finally {
      await source.return?.();
    }
  }

  end(problem: string | null): Promise<void> {
    return this.flush(true, problem);
  }

  private add({ stream, at, text }: LogLine): void {
    // Cut after the redaction: the beginning of a secret would not be recognized.
    const shown = this.redact(text);
    const stored = storableText(shown, LINE_CHARACTERS);
    this.lines.push({ stream, ...(at !== undefined && { at }), text: stored });
    this.bytes += Buffer.byteLength(stored) + 64;
  }

  private async flush(isLast = false, problem: string | null = null): Promise<void> {
    const values = [this.id, this.sequence, JSON.stringify(this.lines), isLast, problem];
    while (!this.signal.aborted) {
      const written = await this.database.tx('system', (tx) => tx.query(ADD_LOG_CHUNK, values));
      if (written.length > 0) break;
      await pause(FULL_CHECK_MS);
    }
    this.sequence += 1;
    this.lines = [];
    this.bytes = 0;
  }
}

function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, ms, undefined));
}
