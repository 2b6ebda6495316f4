import type { ServerResponse } from 'node:http';
import { keepOpen, type RequestContext, type SlipwayReply } from '@slipway/platform-http';

/**
 * Maximum number of unread bytes of a client before the next event. A client with more is disconnected and resumes with
 * Last-Event-ID. One event may be larger than this, because a client could otherwise never read beyond it.
 */
const MAX_BUFFERED_BYTES = 1024 * 1024;
/** How long a client may leave a page of its backlog unread. */
const DRAIN_LIMIT_MS = 30_000;
const RECONNECT_AFTER_MS = 2_000;

/** For the OpenAPI document. */
export const EVENT_STREAM_EXAMPLE =
  'id: 3\nevent: revision.ready\ndata: {"specversion":"1.0","type":"revision.ready","sequence":3}\n\n: heartbeat\n\n';

/** Headers of an answer that streams events. */
export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Proxies of the nginx family buffer answers unless this header forbids it.
  'x-accel-buffering': 'no',
  vary: 'accept',
};

/**
 * The open answer of one `text/event-stream` client. Fastify has handed the socket over; no other code writes to it.
 * Nest's `@Sse` takes an Observable, which cannot hold back a page until the client has read the previous one.
 */
export class EventConnection {
  private readonly response: ServerResponse;
  private readonly inShare: RequestContext['inShare'];
  private closers: (() => void)[] = [];

  constructor(reply: SlipwayReply) {
    const headers = reply.getHeaders() as Record<string, string>;
    this.inShare = keepOpen(reply);
    this.response = reply.raw;
    this.response.on('error', () => this.cut());
    this.response.on('close', () => this.runClosers());
    this.response.writeHead(200, { ...headers, ...EVENT_STREAM_HEADERS });
    this.response.write(`retry: ${RECONNECT_AFTER_MS}\n\n`);
  }

  get isOpen(): boolean {
    return !this.response.destroyed && !this.response.writableEnded;
  }

  /** Whether the client has so much to read that one more event might disconnect it. */
  get isBehind(): boolean {
    return this.response.writableLength > MAX_BUFFERED_BYTES / 2;
  }

  /** Runs work that makes a large part of the answer, when the share of its tenant allows it. */
  part<T>(work: () => Promise<T>): Promise<T> {
    return this.inShare ? this.inShare(work) : work();
  }

  /** Registers a function that is called once, when the client has left or was disconnected. */
  onClose(closer: () => void): void {
    if (!this.isOpen) return closer();
    this.closers.push(closer);
  }

  /** @param sequence the position for a resume; undefined if the client cannot resume */
  event(sequence: number | undefined, type: string, json: string): void {
    const id = sequence === undefined ? '' : `id: ${sequence}\n`;
    this.write(`${id}event: ${type}\ndata: ${json}\n\n`);
  }

  /** It lets proxies and clients distinguish a silent stream from a dead one. A client that is behind gets data. */
  heartbeat(): void {
    if (!this.isBehind) this.write(': heartbeat\n\n');
  }

  /** Resolves when the client has read what was written; disconnects it if it does not read. */
  async drained(): Promise<void> {
    if (!this.isOpen || !this.response.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const limit = setTimeout(() => this.cut(), DRAIN_LIMIT_MS);
      const settle = () => {
        clearTimeout(limit);
        this.response.off('drain', settle).off('close', settle);
        resolve();
      };
      this.response.once('drain', settle).once('close', settle);
    });
  }

  /** Ends the answer after what was written. */
  end(): void {
    if (!this.isOpen) return;
    this.response.end();
    // A client that reads nothing would keep the ended answer open, and a stopping process alive.
    setTimeout(() => this.cut(), 1_000).unref();
    this.runClosers();
  }

  private write(text: string): void {
    if (!this.isOpen) return;
    if (this.response.writableLength > MAX_BUFFERED_BYTES) this.cut();
    else this.response.write(text);
  }

  private cut(): void {
    this.response.destroy();
  }

  private runClosers(): void {
    const closers = this.closers;
    this.closers = [];
    for (const close of closers) close();
  }
}
