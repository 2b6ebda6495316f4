import pg from 'pg';

/** How long a lead is believed without asking its connection. */
const CHECK_MS = 2_000;
const TIMEOUT_MS = 5_000;
/** Of whom Postgres has heard nothing for so long, the session ends: a host that is gone without a word would keep its locks for hours. */
const SILENT_MS = 8_000;
const SIGNS_IN_A_SILENCE = 4;

/**
 * Who of the workers reconciles a target: whoever has its session lock, on a connection that serves nothing
 * else. A lost connection is a lost lead, and so is a silent one. Two who believe to lead for a moment do no harm, since every effect is repeatable
 * and every write guarded; the lock keeps them from doing the same work for ever.
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

  /** What the last `isHeld` said, for those who only watch. */
  get leads(): boolean {
    return this.isLeading;
  }

  /** Takes the lead if it is free and asks whether it is still there. False while Postgres does not answer. */
  async isHeld(): Promise<boolean> {
    if (this.isLeading && Date.now() - this.checkedAt < CHECK_MS) return true;
    const client = this.client ?? (await this.connect());
    if (!client) return false;
    try {
      // Who has the lock is given it again: then this only asks whether the connection is there.
      const { rows } = await client.query(
        `select pg_try_advisory_lock(hashtextextended('slipway-target/' || $1, 0)) as held`,
        [this.target],
      );
      this.isLeading = this.client === client && rows[0].held;
      this.checkedAt = Date.now();
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
      // A Postgres before 14 does not know it.
      await client.query(`set idle_session_timeout = ${this.silentMs}`).catch(() => undefined);
      this.client = client;
      // Whatever a pass takes, the lead is this process's as long as it lives.
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
