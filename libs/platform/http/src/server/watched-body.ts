import { Readable } from 'node:stream';
import type { SlipwayError } from '../errors/slipway-error.js';
import type { SlipwayRequest } from './slipway-request.js';

/**
 * Watches a request whose body is under way. It calls back once if the access of the caller ends before the returned
 * function is called.
 */
export type BodyWatch = (request: SlipwayRequest, onEnd: (refusal: SlipwayError) => void) => () => void;

/**
 * The raw body of a request, which ends with the access of its caller. It fails then with the refusal, and leaves the
 * request intact: destroying that would also close the connection of the answer.
 */
export class WatchedBody extends Readable {
  private readonly unwatch: () => void;

  constructor(
    private readonly source: Readable,
    watch: (onEnd: (refusal: SlipwayError) => void) => () => void,
  ) {
    super({ highWaterMark: source.readableHighWaterMark });
    // A handler that is not reading yet learns of a failure when it reads.
    this.on('error', () => undefined);
    source.pause();
    source.on('data', this.onData).on('end', this.onEnd).on('error', this.onFailure).on('close', this.onClose);
    this.unwatch = watch((refusal) => this.destroy(refusal));
  }

  /** Stops reading the request; what the client still sends can then be discarded. */
  release(): void {
    this.unwatch();
    this.source.off('data', this.onData).off('end', this.onEnd).off('error', this.onFailure).off('close', this.onClose);
  }

  /** Ends a body whose request is over: a client that has left sends no more of it. */
  abandon(): void {
    this.destroy(new Error('The request ended before its body was complete.'));
  }

  override _read(): void {
    this.source.resume();
  }

  override _destroy(failure: Error | null, done: (failure: Error | null) => void): void {
    this.release();
    done(failure);
  }

  private readonly onData = (chunk: Buffer): void => {
    if (!this.push(chunk)) this.source.pause();
  };

  private readonly onEnd = (): void => {
    this.release();
    this.push(null);
  };

  private readonly onFailure = (failure: Error): void => {
    this.destroy(failure);
  };

  private readonly onClose = (): void => this.abandon();
}
