import pg from 'pg';
import type { Log } from '../log.js';

const RETRY_MS = [50, 100, 200, 400];
const PING_EVERY_MS = 1_000;
const ANSWER_WITHIN_MS = 2_000;

export interface ListenerEvents {
  onNotification(channel: string, payload: string): void;
  /** It listens again. Earlier notifications are lost, so everything must be compared now. */
  onConnected(): void;
  onDisconnected(): void;
}

/**
 * Keeps one LISTEN connection open for ever. It reconnects with a short back-off and pings every second, because a
 * connection whose peer vanished silently is indistinguishable from a quiet one.
 */
export class NotificationListener {
  private client: pg.Client | null = null;
  private timer: NodeJS.Timeout | null = null;
  private failures = 0;
  private isClosed = false;

  constructor(
    private readonly url: string,
    private readonly channels: readonly string[],
    private readonly events: ListenerEvents,
    private readonly log: Log,
  ) {}

  start(): void {
    void this.connect();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    if (this.timer) clearTimeout(this.timer);
    const client = this.client;
    this.client = null;
    await client?.end().catch(() => undefined);
  }

  private async connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.url,
      connectionTimeoutMillis: ANSWER_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS,
      keepAlive: true,
      application_name: 'slipway-gateway-listen',
    });
    this.client = client;
    client.on('error', () => this.lost(client));
    client.on('end', () => this.lost(client));
    client.on('notification', ({ channel, payload }) => this.events.onNotification(channel, payload ?? ''));
    try {
      await client.connect();
      for (const channel of this.channels) await client.query(`listen ${channel}`);
    } catch (error) {
      this.lost(client, error);
      return;
    }
    if (this.client !== client) return;
    this.failures = 0;
    this.log.info({ channels: this.channels }, 'listening for published changes');
    this.events.onConnected();
    this.schedulePing(client);
  }

  private schedulePing(client: pg.Client): void {
    this.timer = setTimeout(() => {
      client.query('select 1').then(
        () => this.client === client && this.schedulePing(client),
        (error: unknown) => this.lost(client, error),
      );
    }, PING_EVERY_MS);
  }

  private lost(client: pg.Client, error?: unknown): void {
    if (this.client !== client || this.isClosed) return;
    this.client = null;
    if (this.timer) clearTimeout(this.timer);
    // `end` would wait for a peer that may be gone.
    (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    if (this.failures === 0)
      this.log.warn({ error: messageOf(error) }, 'no connection to Postgres; serving the last known snapshot');
    this.events.onDisconnected();
    this.timer = setTimeout(() => void this.connect(), RETRY_MS[Math.min(this.failures, RETRY_MS.length - 1)]);
    this.failures += 1;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'connection ended';
}
