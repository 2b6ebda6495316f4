import type { RequestCounts, UsageWindow } from '@slipway/dataplane';
import type { Clock } from '../postgres/database-clock.js';

/** One ended request: its owner, its destination, and how it ended for the client. */
export interface UsageRecord {
  tenantId: string;
  tokenId: string;
  /** Id of the revision, or of a supplier's binding. */
  revisionId: string;
  instanceId: string | null;
  slug: string | null;
  outcome: keyof RequestCounts;
  upstreamFaults: number;
  tokensIn: number;
  tokensOut: number;
  durationMs: number;
  attempts: number;
  /** Sum over the attempts of the mean number of requests in flight on the instance during each. */
  inFlightSum: number;
}

const WINDOW_MS = 10_000;
/**
 * Most rows of one window. Beyond it, requests are counted per tenant and revision only, in at most as many rows again.
 */
const MAX_ROWS = 5_000;
/** Most rows that wait for Postgres; beyond it, the oldest are dropped. */
const MAX_CLOSED = 50_000;

type Sums = Omit<UsageWindow, 'gateway_id' | 'window_start' | 'row_number' | 'mean_in_flight'> & {
  inFlightSum: number;
};

/**
 * Usage per tenant, token and revision, in windows of ten seconds. `add` costs a lookup and a few increments; other
 * code stores the windows.
 */
export class UsageBook {
  lostRows = 0;
  private open = new Map<string, Sums>();
  private openWindow: number;
  private closed: UsageWindow[] = [];

  constructor(
    private readonly gatewayId: string,
    now?: number,
    private readonly clock: Clock = Date,
  ) {
    this.openWindow = Math.floor((now ?? clock.now()) / WINDOW_MS);
  }

  add(record: UsageRecord, now = this.clock.now()): void {
    this.roll(now);
    const sums = this.sumsOf(record);
    if (!sums) return;
    sums[record.outcome] += 1;
    sums.upstream_faults += record.upstreamFaults;
    sums.tokens_in += record.tokensIn;
    sums.tokens_out += record.tokensOut;
    sums.duration_ms += record.durationMs;
    sums.attempts += record.attempts;
    sums.inFlightSum += record.inFlightSum;
  }

  /** Returns the closed windows and clears them. */
  take(now = this.clock.now()): UsageWindow[] {
    this.roll(now);
    return this.closed.splice(0);
  }

  /** Closes the open window before its time is over, for a shutdown. */
  takeAll(): UsageWindow[] {
    return this.take((this.openWindow + 1) * WINDOW_MS);
  }

  /** Puts rows back that could not be stored. */
  putBack(rows: readonly UsageWindow[]): void {
    this.closed = [...rows, ...this.closed];
    const excess = this.closed.length - MAX_CLOSED;
    if (excess <= 0) return;
    this.lostRows += excess;
    this.closed.splice(0, excess);
  }

  /** As with statistics: moves all windows once the clock is known. */
  shift(ms: number): void {
    const windows = Math.round(ms / WINDOW_MS);
    this.openWindow += windows;
    this.closed = this.closed.map((row) => ({
      ...row,
      window_start: new Date(Date.parse(row.window_start) + windows * WINDOW_MS).toISOString(),
    }));
  }

  private sumsOf({ tenantId, tokenId, revisionId, instanceId, slug }: UsageRecord): Sums | undefined {
    const sums =
      this.find(tenantId, revisionId, tokenId, instanceId, slug, MAX_ROWS) ??
      this.find(tenantId, revisionId, null, null, null, 2 * MAX_ROWS);
    if (!sums) this.lostRows += 1;
    return sums;
  }

  /**
   * Begins a row if it is missing and there are fewer than `maxRows`. Builds nothing for an existing row, because each
   * request calls this.
   */
  private find(
    tenant: string,
    revision: string,
    token: string | null,
    instance: string | null,
    slug: string | null,
    maxRows: number,
  ): Sums | undefined {
    const key = `${tenant} ${revision} ${token} ${instance} ${slug}`;
    const known = this.open.get(key);
    if (known || this.open.size >= maxRows) return known;
    const sums: Sums = {
      tenant_id: tenant,
      revision_id: revision,
      token_id: token,
      instance_id: instance,
      slug,
      ok: 0,
      client_error: 0,
      overloaded: 0,
      server_error: 0,
      abandoned: 0,
      cancelled: 0,
      upstream_faults: 0,
      tokens_in: 0,
      tokens_out: 0,
      duration_ms: 0,
      attempts: 0,
      inFlightSum: 0,
    };
    this.open.set(key, sums);
    return sums;
  }

  private roll(now: number): void {
    const window = Math.floor(now / WINDOW_MS);
    // As with statistics: a clock that was set back must not reopen a window whose rows are written.
    if (window <= this.openWindow) return;
    const start = new Date(this.openWindow * WINDOW_MS).toISOString();
    let row = 0;
    const rows = [...this.open.values()].map(({ inFlightSum, ...sums }): UsageWindow => ({
      ...sums,
      gateway_id: this.gatewayId,
      window_start: start,
      row_number: row++,
      mean_in_flight: sums.attempts === 0 ? 0 : inFlightSum / sums.attempts,
    }));
    this.open = new Map();
    this.openWindow = window;
    this.putBack([...this.closed.splice(0), ...rows]);
  }
}
