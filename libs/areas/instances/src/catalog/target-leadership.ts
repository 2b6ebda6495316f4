import pg from 'pg';

/** How long a lead counts as held without a check of its connection. */
const CHECK_MS = 2_000;
const TIMEOUT_MS = 5_000;
/**
 * Postgres ends a session from which it has heard nothing for this long. Otherwise a host that disappears would keep
 * its locks for hours.
 */
const SILENT_MS = 8_000;
const SIGNS_IN_A_SILENCE = 4;

/**
 * Decides which worker reconciles a target: the one that holds its session lock, on a connection that serves nothing
 * else. A lost or silent connection is a lost lead. Two workers may both believe for a moment that they lead. This does
 * no harm, because every effect is repeatable and every write is guarded. The lock keeps them from doing the same work
 * all the time.
 */
export class TargetLeadership {
  private client?: pg.Client;
  private isLeading = false;
  private checkedAt = 0;
  private signs?: NodeJS.Timeout;

  constructor(
    private readonly url: string,
    private readonly target: string,
    private readonly silentMs = SILENT_MS,
  ) {}

  /** The result of the last `isHeld`, for callers that only observe. */
  get leads(): boolean {
    return this.isLeading;
  }

  /**
   * Takes the lead if it is free, and checks whether it is still held. Returns false while Postgres does not answer.
   */
  async isHeld(): Promise<boolean> {
    if (this.isLeading && performance.now() - this.checkedAt < CHECK_MS) return true;
    const client = this.client ?? (await this.connect());
    if (!client) return false;
    try {
      // The holder of the lock gets it again. For the holder, this only checks the connection.
      const { rows } = await client.query(
        `select pg_try_advisory_lock(hashtextextended('slipway-target/' || $1, 0)) as held`,
        [this.target],
      );
      this.isLeading = this.client === client && rows[0].held;
      this.checkedAt = performance.now();
    } catch {
      this.lose(client);
    }
    return this.isLeading;
  }

  async resign(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.isLeading = false;
    clearInterval(this.signs);
    await client?.end().catch(() => undefined);
  }

  private async connect(): Promise<pg.Client | undefined> {
    const client = new pg.Client({
      connectionString: this.url,
      application_name: 'slipway-target',
      keepAlive: true,
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
    });
    client.on('error', () => this.lose(client));
    client.on('end', () => this.lose(client));
    try {
      await client.connect();
      // Postgres before 14 does not have this setting.
      await client.query(`set idle_session_timeout = ${this.silentMs}`).catch(() => undefined);
      this.client = client;
      // The lead belongs to this process as long as it lives, however long a pass takes.
      const giveSign = () => void client.query('select').catch(() => undefined);
      this.signs = setInterval(giveSign, this.silentMs / SIGNS_IN_A_SILENCE).unref();
      return client;
    } catch {
      await client.end().catch(() => undefined);
      return undefined;
    }
  }

  private lose(client: pg.Client): void {
    if (this.client !== client) return;
    this.client = undefined;
    this.isLeading = false;
    clearInterval(this.signs);
    void client.end().catch(() => undefined);
  }
}
