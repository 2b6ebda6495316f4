import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { STREAM_HEADERS } from '../headers.js';

/**
 * Writes an event stream. Data that arrives in one tick of the event loop leaves in one piece at the end of the tick.
 * Upstream's chunks mostly arrive several at a time, and a separate write for each costs Node more than all other work
 * on a chunk.
 */
export class StreamWriter {
  private pending = '';
  private isDue = false;
  private hasBegun = false;

  /** @param encoding of the texts: Latin-1 if each character is a byte */
  constructor(
    private readonly response: ServerResponse,
    private readonly encoding: 'latin1' | 'utf8',
  ) {}

  begin(status: number, head: OutgoingHttpHeaders): void {
    this.response.writeHead(status, Object.assign(head, STREAM_HEADERS));
    this.plan();
  }

  /** Returns false when the client reads slower than upstream writes; the response emits `drain` later. */
  write(text: string): boolean {
    if (text === '') return true;
    this.pending += text;
    this.plan();
    return !this.response.writableNeedDrain;
  }

  end(text: string): void {
    this.response.end(this.pending + text, this.encoding);
    this.pending = '';
    this.hasBegun = true;
  }

  /** Sends the pending text at once. */
  readonly flush = (): void => {
    this.isDue = false;
    const { pending, response } = this;
    this.pending = '';
    // A stream's client wants to know at once that it was accepted; the first token may take a while.
    if (pending !== '') response.write(pending, this.encoding);
    else if (!this.hasBegun) response.flushHeaders();
    this.hasBegun = true;
  };

  private plan(): void {
    if (this.isDue) return;
    this.isDue = true;
    process.nextTick(this.flush);
  }
}
