import {
  followedCount,
  forgetGateway,
  reportGateway,
  writeSightings,
  writeUsage,
  writeWindows,
  type GatewayLoad,
  type GatewayReport,
  type QueryClient,
  type StatsWindow,
  type UsageWindow,
} from '@slipway/dataplane';
import type { Log } from '../log.js';
import type { DatabaseClock } from '../postgres/database-clock.js';
import type { SessionBook } from '../sessions/session-book.js';
import type { SnapshotRoute, Snapshot } from '../snapshot/snapshot.js';
import type { TokenBook } from '../tokens/token-book.js';
import type { Backends } from '../upstream/backends.js';
import type { Recorder } from './recorder.js';
import type { UsageBook } from './usage.js';

const HEARTBEAT_MS = 1_000;
/** Unchanged counts are repeated before readers take them for those of a dead gateway. */
const REPEAT_MS = 2_000;
const TIDY_MS = 60_000;
const NOTE_USES_MS = 10_000;
const ROWS_PER_STATEMENT = 500;

/**
 * Reports to Postgres that this gateway lives, which generations it follows, what is in flight, what it measured and
 * which sessions it saw. It runs apart from the requests, one flush at a time. While Postgres is down, a bounded amount
 * waits in memory.
 */
export class Reporter {
  private readonly followed = new Map<string, SnapshotRoute>();
  /** The counts sent last, if they are not 0, by revision. */
  private readonly sentCounts = new Map<string, { tenantId: string; key: string }>();
  private readonly sentUses = new Map<string, number>();
  private readonly timer: NodeJS.Timeout;
  private running: Promise<void> | null = null;
  // By `performance.now()`: a clock that is set back must not silence the heartbeat and make this gateway count as
  // dead.
  private reportedAt = -Infinity;
  private repeatedAt = -Infinity;
  private tidiedAt = performance.now();
  private notedUsesAt = performance.now();
  private isAway = false;
  /** The time up to which all statistics are stored; sent with the next report. */
  private storedUntil: Date | null = null;

  constructor(
    private readonly db: QueryClient,
    private readonly gatewayId: string,
    private readonly recorder: Recorder,
    private readonly usage: UsageBook,
    private readonly sessions: SessionBook,
    private readonly snapshot: Snapshot,
    private readonly backends: Backends,
    private readonly tokens: TokenBook,
    reportMs: number,
    private readonly log: Log,
    private readonly clock: DatabaseClock,
  ) {
    this.timer = setInterval(() => this.flush(), reportMs);
  }

  /** The route is served from now on. This is reported at once, because a rollout may be waiting for it. */
  onRoute(route: SnapshotRoute): void {
    this.followed.set(route.deployment_id, route);
    setImmediate(() => this.flush());
  }

  /** Sends a report now, and resolves when it was sent or failed. The first one makes the clock of Postgres known. */
  async reportNow(): Promise<void> {
    this.flush();
    await this.running;
  }

  /** Sends the last flush, with the second that is still open, and removes this gateway from Postgres. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
    try {
      // Windows are taken only once the clock of Postgres has placed them.
      if (!this.clock.isKnown) await this.report({ isDue: true });
      const lastWindows = this.recorder.takeAll();
      const lastUsage = this.usage.takeAll();
      // Before `work`: the open second is closed now, so the time up to which `work` claims completeness includes it.
      await this.storeWindows(lastWindows);
      await this.work();
      await this.report({ isDue: true });
      await this.storeUsage(lastUsage);
      await forgetGateway(this.db, this.gatewayId);
    } catch (error) {
      this.log.warn({ error: String(error) }, 'the last statistics could not be stored');
    }
  }

  private followEverything(): void {
    for (const route of this.snapshot.routes.values()) this.followed.set(route.deployment_id, route);
  }

  private flush(): void {
    this.running ??= this.work()
      .then(
        () => {
          if (!this.isAway) return;
          this.isAway = false;
          this.followEverything();
          this.log.info({}, 'reporting to Postgres again');
        },
        (error: unknown) => {
          if (!this.isAway) this.log.warn({ error: String(error) }, 'cannot send reports to Postgres; keeping them');
          this.isAway = true;
        },
      )
      .finally(() => {
        this.running = null;
      });
  }

  private async work(): Promise<void> {
    // First, and alone: even if the measurements cannot be written, this gateway counts as alive, and its counts delay
    // nothing.
    await this.report();
    const { windows, until } = this.recorder.take();
    await this.storeWindows(windows);
    this.storedUntil = until;
    await this.storeUsage(this.usage.take());
    await this.writeSightings();
    await this.noteUses();
    await this.tidy();
  }

  private async storeWindows(windows: StatsWindow[]): Promise<void> {
    const unwritten = await this.writeInParts(windows, (part) => writeWindows(this.db, part));
    this.recorder.lostWindows += unwritten.refused;
    if (!unwritten.error) return;
    this.recorder.putBack(unwritten.rows);
    throw unwritten.error;
  }

  private async storeUsage(windows: UsageWindow[]): Promise<void> {
    const unwritten = await this.writeInParts(windows, (part) => writeUsage(this.db, part));
    this.usage.lostRows += unwritten.refused;
    if (!unwritten.error) return;
    this.usage.putBack(unwritten.rows);
    throw unwritten.error;
  }

  private async writeSightings(): Promise<void> {
    const unwritten = await this.writeInParts(this.sessions.takeUnwritten(), (part) => writeSightings(this.db, part));
    if (!unwritten.error) return;
    this.sessions.putBack(unwritten.rows);
    throw unwritten.error;
  }

  /** Writes a few hundred rows at a time. A row that Postgres will never accept is dropped and delays no other. */
  private async writeInParts<Row>(rows: Row[], write: (part: Row[]) => Promise<void>): Promise<UnwrittenRows<Row>> {
    let refused = 0;
    const parts = [];
    for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT)
      parts.push(rows.slice(from, from + ROWS_PER_STATEMENT));
    while (parts.length > 0) {
      const part = parts.shift() as Row[];
      try {
        await write(part);
      } catch (error) {
        if (!isUnstorable(error)) return { rows: [part, ...parts].flat(), refused, error };
        const half = Math.ceil(part.length / 2);
        if (part.length > 1) parts.unshift(part.slice(0, half), part.slice(half));
        else {
          refused += 1;
          this.log.warn(
            { error: String(error), row: JSON.stringify(part[0]).slice(0, 500) },
            'dropped a row of a report that Postgres rejected',
          );
        }
      }
    }
    return { rows: [], refused, error: undefined };
  }

  private async report({ isDue = false } = {}): Promise<void> {
    const now = performance.now();
    const isRepeatDue = now - this.repeatedAt >= REPEAT_MS;
    const inFlight = this.countsToSend(isRepeatDue);
    const followed = [...this.followed.values()];
    const hasNews = inFlight.length > 0 || followed.length > 0;
    if (!isDue && !hasNews && now - this.reportedAt < HEARTBEAT_MS) return;
    const uses = [...this.backends].map(({ spec, uses }) => [spec.id, uses] as const);
    const report: GatewayReport = {
      gatewayId: this.gatewayId,
      statsUntil: this.storedUntil,
      followed: followed.map(({ deployment_id, tenant_id, generation }) => ({ deployment_id, tenant_id, generation })),
      inFlight,
    };
    const sentAt = performance.now();
    const correctionMs = this.clock.measure(await reportGateway(this.db, report), sentAt);
    if (correctionMs !== 0) {
      this.recorder.shift(correctionMs);
      this.usage.shift(correctionMs);
    }
    for (const route of followed)
      if (this.followed.get(route.deployment_id) === route) this.followed.delete(route.deployment_id);
    for (const load of inFlight) {
      if (isIdle(load)) this.sentCounts.delete(load.revision_id);
      else this.sentCounts.set(load.revision_id, { tenantId: load.tenant_id, key: loadKey(load) });
    }
    this.sentUses.clear();
    for (const [id, count] of uses) this.sentUses.set(id, count);
    this.reportedAt = now;
    if (isRepeatDue) this.repeatedAt = now;
  }

  /** Returns counts that changed, and with `isRepeatDue` all that are not 0. A backend that is gone counts 0. */
  private countsToSend(isRepeatDue: boolean): GatewayReport['inFlight'] {
    const counts: GatewayLoad[] = [];
    const gone = new Map(this.sentCounts);
    for (const backend of this.backends) {
      const { spec, inFlight, uses } = backend;
      const hasNewUses = uses !== (this.sentUses.get(spec.id) ?? 0);
      const held = backend.queue?.size ?? 0;
      const silent = backend.silentByInstance(performance.now());
      const load: GatewayLoad = {
        ...idle(spec.id, spec.tenantId),
        in_flight: inFlight,
        held,
        is_used: hasNewUses || inFlight + held > 0,
        instances: backend.inFlightByInstance,
        ...(Object.keys(silent).length > 0 && { silent }),
      };
      const sent = gone.get(spec.id);
      gone.delete(spec.id);
      const isOther = sent ? sent.key !== loadKey(load) : !isIdle(load);
      const isRepeated = isRepeatDue && !isIdle(load);
      if (isOther || isRepeated || hasNewUses) counts.push(load);
    }
    for (const [revisionId, { tenantId }] of gone) counts.push(idle(revisionId, tenantId));
    return counts;
  }

  private async noteUses(): Promise<void> {
    if (performance.now() - this.notedUsesAt < NOTE_USES_MS) return;
    this.notedUsesAt = performance.now();
    await this.tokens.noteUses();
  }

  private async tidy(): Promise<void> {
    if (performance.now() - this.tidiedAt < TIDY_MS) return;
    this.tidiedAt = performance.now();
    this.recorder.forgetTotals((id) => this.backends.get(id) !== undefined);
    await forgetGateway(this.db, '');
    // The others forget a gateway that was cut off for long, with all it follows.
    if ((await followedCount(this.db, this.gatewayId)) < this.snapshot.routes.size) this.followEverything();
  }
}

function idle(revisionId: string, tenantId: string): GatewayLoad {
  return { revision_id: revisionId, tenant_id: tenantId, in_flight: 0, held: 0, is_used: false, instances: {} };
}

function isIdle({ in_flight, held = 0, instances = {} }: GatewayLoad): boolean {
  return in_flight + held === 0 && Object.keys(instances).length === 0;
}

/** A key that is equal for equal counts of a revision. */
function loadKey({ in_flight, held, instances, silent }: GatewayLoad): string {
  return JSON.stringify([in_flight, held, instances, silent]);
}

/** Rows that are not stored: `refused` counts those that Postgres never accepts, `rows` are to be sent again. */
interface UnwrittenRows<Row> {
  rows: Row[];
  refused: number;
  error: unknown;
}

/** Whether Postgres refuses the values themselves (SQLSTATE classes 22 and 23), so that a retry is useless. */
function isUnstorable(error: unknown): boolean {
  return /^2[23]/.test(String((error as { code?: unknown } | null)?.code ?? ''));
}
