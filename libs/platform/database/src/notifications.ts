import { Injectable } from '@nestjs/common';
import { EventEmitter } from 'node:events';
import pg from 'pg';

const RECONNECT_MIN_MS = 100;
const RECONNECT_MAX_MS = 2_000;

/**
 * One LISTEN connection per process, shared by all channels. States: idle (no channel, no connection) → connected ⇄
 * waiting to reconnect → closed. Every reconnect listens to all channels again and tells every subscriber, because
 * Postgres keeps no notification for a listener that was away.
 */
@Injectable()
export class Notifications {
  private readonly payloads = new EventEmitter().setMaxListeners(0);
  private readonly reconnects = new EventEmitter().setMaxListeners(0);
  private readonly channels = new Map<string, number>();
  private client?: pg.Client;
  private connecting?: Promise<void>;
  private closed = false;

  constructor(private readonly url: string) {}

  async listen(
    channel: string,
    onPayload: (payload: string) => void,
    onReconnect?: () => void,
  ): Promise<() => Promise<void>> {
    this.payloads.on(channel, onPayload);
    if (onReconnect) this.reconnects.on('reconnect', onReconnect);
    const users = this.channels.get(channel) ?? 0;
    this.channels.set(channel, users + 1);
    if (!this.client) await this.connect();
    else if (users === 0) await this.client.query(`LISTEN "${channel}"`).catch(() => this.lost(this.client));
    return async () => {
      this.payloads.off(channel, onPayload);
      if (onReconnect) this.reconnects.off('reconnect', onReconnect);
      this.channels.set(channel, (this.channels.get(channel) ?? 1) - 1);
    };
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.client?.end().catch(() => undefined);
  }

  private connect(): Promise<void> {
    this.connecting ??= this.open().finally(() => (this.connecting = undefined));
    return this.connecting;
  }

  private async open(): Promise<void> {
    let delayMs = RECONNECT_MIN_MS;
    while (!this.closed) {
      const client = new pg.Client({
        connectionString: this.url,
        keepAlive: true,
        application_name: 'slipway-listen',
        connectionTimeoutMillis: 5_000,
      });
      client.on('error', () => this.lost(client));
      client.on('end', () => this.lost(client));
      client.on('notification', (message) => this.payloads.emit(message.channel, message.payload ?? ''));
      try {
        await client.connect();
        for (const channel of this.channels.keys()) await client.query(`LISTEN "${channel}"`);
        this.client = client;
        return;
      } catch {
        await client.end().catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, delayMs).unref());
        delayMs = Math.min(delayMs * 2, RECONNECT_MAX_MS);
      }
    }
  }

  private lost(client: pg.Client | undefined): void {
    if (this.closed || !client || client !== this.client) return;
    this.client = undefined;
    void this.connect().then(() => this.reconnects.emit('reconnect'));
  }
}
