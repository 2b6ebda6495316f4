import {
  emptyCounts,
  emptyHistogram,
  histogramsOf,
  mergeNextRecords,
  reportGateway,
  writeWindows,
  type QueryClient,
  type RecordSeconds,
  type StatsWindow,
} from '../src/index.js';
import type { DataplaneConnection } from './connection.js';

const HOUR = 3_600_000;

/** A row as it is stored, without what only the reader needs to know. */
export interface StoredRow {
  id: string;
  minute: number;
  arrivals: number;
}

/** One-second windows around a whole hour, and the job that merges them. */
export class RecordBed {
  /** A whole hour, some hours ago: no test reaches the time now. */
  readonly base = new Date(Math.floor(Date.now() / HOUR) * HOUR - 6 * HOUR);

  constructor(private readonly connection: DataplaneConnection) {}

  /** Forgets all, and begins the merge at `base`. */
  async reset(): Promise<void> {
    for (const table of [
      'dataplane_request_stats',
      'dataplane_service_records',
      'dataplane_engine_peaks',
      'dataplane_gateways',
    ])
      await this.connection.sql(`delete from ${table}`);
    await this.setPosition(60, 0);
    await this.setPosition(3600, 0);
  }

  at(seconds: number): Date {
    return new Date(this.base.getTime() + seconds * 1_000);
  }

  async setPosition(seconds: RecordSeconds, atSeconds: number): Promise<void> {
    await this.connection.sql(
      'update dataplane_record_merges set merged_until = $2, last_revision = null where seconds = $1',
      [seconds, this.at(atSeconds)],
    );
  }

  /** Returns how far the merge is, in seconds after `base`. */
  async position(seconds: RecordSeconds): Promise<{ at: number; revision: string | null }> {
    const [row] = await this.connection.sql<{ merged_until: Date; last_revision: string | null }>(
      'select merged_until, last_revision from dataplane_record_merges where seconds = $1',
      [seconds],
    );
    return { at: (row!.merged_until.getTime() - this.base.getTime()) / 1_000, revision: row!.last_revision };
  }

  window(second: number, given: Partial<StatsWindow> = {}): StatsWindow {
    return {
      ...emptyCounts(),
      revision_id: 'rev',
      tenant_id: 'ten',
      gateway_id: 'gw',
      window_start: this.at(second).toISOString(),
      streamed: 0,
      tokens_in: 0,
      tokens_out: 0,
      ...histogramsOf(() => emptyHistogram()),
      loads: null,
      callers: null,
      waits: null,
      faults: null,
      arrivals: 1,
      ...given,
    };
  }

  async store(...windows: StatsWindow[]): Promise<void> {
    await writeWindows(this.connection.db, windows);
  }

  /** A live gateway has stored everything up to this second. */
  async report(second: number, gatewayId = 'gw'): Promise<void> {
    await reportGateway(this.connection.db, { gatewayId, statsUntil: this.at(second), followed: [], inFlight: [] });
  }

  /** One step of the job, in a transaction as the worker's. */
  async step(seconds: RecordSeconds = 60, db: QueryClient = this.connection.db): Promise<boolean> {
    await this.connection.sql('begin');
    try {
      const hasMore = await mergeNextRecords(db, seconds);
      await this.connection.sql('commit');
      return hasMore;
    } catch (error) {
      await this.connection.sql('rollback');
      throw error;
    }
  }

  /** All steps that are possible now; returns their number. */
  async merge(seconds: RecordSeconds = 60): Promise<number> {
    let steps = 0;
    while (await this.step(seconds)) steps += 1;
    return steps;
  }

  /** Returns the stored records with their start in minutes after `base`. */
  rows(seconds: RecordSeconds = 60): Promise<StoredRow[]> {
    return this.connection.sql<StoredRow>(
      `select revision_id as id, (extract(epoch from starts_at - $2) / 60)::int as minute, arrivals
       from dataplane_service_records where seconds = $1 order by starts_at, revision_id`,
      [seconds, this.base],
    );
  }
}
