import { Injectable } from '@nestjs/common';
import { EventEmitter } from 'node:events';
import pg from 'pg';
import { cut } from './tx.js';

const RECONNECT_MIN_MS = 100;
const RECONNECT_MAX_MS = 2_000;
const PING_EVERY_MS = 3_000;
/** A peer that has not answered a trivial query within this time counts as gone. */
const ANSWER_WITHIN_MS = 5_000;

/**
 * One LISTEN connection per process, shared by all channels. States: idle (no channel, no connection) → connected ⇄
 * waiting to reconnect → closed. Every reconnect listens to all channels again and notifies every subscriber, because
 * Postgres keeps no notification for a listener that was away.
 *
 * It checks the connection regularly: a connection whose peer vanished silently resembles an idle one for hours.
 */
@Injectable()
export class Notifications {
  private readonly payloads = new EventEmitter().setMaxListeners(0);
  private readonly reconnects = new EventEmitter().setMaxListeners(0);
  private readonly silences = new EventEmitter();
  private readonly channels = new Map<string, number>();
  private client?: pg.Client;
  private connecting?: Promise<void>;
  private pinging?: NodeJS.Timeout;
  private closed = false;

  constructor(private readonly url: string) {}

  /** Connects before there is a listener, so that `onSilence` works. */
  start(): void {
    if (!this.client) void this.connect();
  }

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
    else if (users === 0) await this.listenOn(this.client, channel);
    return async () => {
      this.payloads.off(channel, onPayload);
      if (onReconnect) this.reconnects.off('reconnect', onReconnect);
      this.channels.set(channel, (this.channels.get(channel) ?? 1) - 1);
    };
  }

  /** Calls back if the peer does not answer, because the other connections of this process lead to the same server. */
  onSilence(listener: () => void): void {
    this.silences.on('silence', listener);
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.pinging);
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
        query_timeout: ANSWER_WITHIN_MS,
      });
      client.on('error', () => this.lost(client));
      client.on('end', () => this.lost(client));
      client.on('notification', (message) => this.payloads.emit(message.channel, message.payload ?? ''));
      try {
        await client.connect();
        for (const channel of this.channels.keys()) await client.query(`LISTEN "${channel}"`);
        if (this.closed) cut(client);
        else {
          this.client = client;
          this.schedulePing(client);
        }
        return;
      } catch {
        cut(client);
        await new Promise((resolve) => setTimeout(resolve, delayMs).unref());
        delayMs = Math.min(delayMs * 2, RECONNECT_MAX_MS);
      }
    }
  }

  private schedulePing(client: pg.Client): void {
    this.pinging = setTimeout(() => {
      client.query('select 1').then(
        () => this.client === client && !this.closed && this.schedulePing(client),
        () => this.silent(client),
      );
    }, PING_EVERY_MS).unref();
  }

  /** A reconnect listens to the channel too, so a failure here loses nothing. */
  private async listenOn(client: pg.Client, channel: string): Promise<void> {
    await client.query(`LISTEN "${channel}"`).catch(() => this.silent(client));
  }

  /** The first to notice must report it: after the connection is replaced, no other query fails on it. */
  private silent(client: pg.Client): void {
    if (this.closed || client !== this.client) return;
    this.silences.emit('silence');
    this.lost(client);
  }

  private lost(client: pg.Client): void {
    if (this.closed || client !== this.client) return;
    this.client = undefined;
    clearTimeout(this.pinging);
    cut(client);
    void this.connect().then(() => this.reconnects.emit('reconnect'));
  }
}
