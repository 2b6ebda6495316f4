import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { isCoded } from '../headers.js';
import { RelayedAnswer } from './relayed-answer.js';

/** Most decoded bytes of a coded answer, and most for each of its bytes. The latter does not apply to the first ones. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_RATIO = 100;
const FREE_BYTES = 1024 * 1024;

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createUnzip],
  ['x-gzip', createUnzip],
  ['deflate', createUnzip],
  ['br', createBrotliDecompress],
]);

/**
 * Decodes an answer that has a content encoding, although the gateway requests none: some proxies in front of engines
 * compress in any case. Every other answer passes unchanged, also one with an unknown encoding.
 * To the handler it is the controller of the request.
 */
export class DecodedAnswer extends RelayedAnswer implements Dispatcher.DispatchHandler {
  private decoder: Transform | undefined;
  private codedBytes = 0;
  private decodedBytes = 0;
  private isOver = false;

  get paused(): boolean {
    return this.decoder?.isPaused() ?? this.controller.paused;
  }

  abort(reason: Error): void {
    this.decoder?.destroy();
    this.controller.abort(reason);
  }

  pause(): void {
    // A paused decoder accepts no more than its buffers hold, and then `onResponseData` pauses the connection.
    if (this.decoder) this.decoder.pause();
    else this.controller.pause();
  }

  resume(): void {
    if (this.decoder) this.decoder.resume();
    else this.controller.resume();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
    text?: string,
  ): void {
    // A list of encodings is unknown: each of them multiplies the bytes.
    const decoder = isCoded(headers) && DECODERS.get(String(headers['content-encoding']).trim().toLowerCase());
    if (!decoder || status < 200) {
      this.handler.onResponseStart?.(this, status, headers, text);
      return;
    }
    this.decoder = this.decode(decoder());
    const { 'content-encoding': _coding, 'content-length': _length, ...decoded } = headers;
    this.handler.onResponseStart?.(this, status, decoded, text);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.decoder) {
      this.handler.onResponseData?.(this, chunk);
      return;
    }
    this.codedBytes += chunk.length;
    if (this.isOver || this.decoder.write(chunk)) return;
    this.controller.pause();
    this.decoder.once('drain', () => this.controller.resume());
  }

  onResponseEnd(_controller: Dispatcher.DispatchController, trailers: IncomingHttpHeaders): void {
    if (!this.decoder) {
      this.handler.onResponseEnd?.(this, trailers);
      return;
    }
    this.decoder.once('end', () => {
      this.pass(() => this.handler.onResponseEnd?.(this, trailers));
      this.isOver = true;
    });
    this.decoder.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    this.decoder?.destroy();
    this.handler.onResponseError?.(this, error);
  }

  private decode(decoder: Transform): Transform {
    return decoder
      .on('data', (chunk: Buffer) => {
        this.decodedBytes += chunk.length;
        const most = Math.min(MAX_BYTES, Math.max(FREE_BYTES, MAX_RATIO * this.codedBytes));
        if (this.decodedBytes > most) this.fail(new Error('the decoded answer is too large'));
        else this.pass(() => this.handler.onResponseData?.(this, chunk));
      })
      .on('error', (error) => this.fail(error));
  }

  /** No caller would catch an error that leaves a listener of the decoder. */
  private pass(call: () => void): void {
    if (this.isOver) return;
    try {
      call();
    } catch (error) {
      this.fail(error as Error);
    }
  }

  private fail(error: Error): void {
    this.onResponseError(this.controller, error);
    this.controller.abort(error);
  }
}
