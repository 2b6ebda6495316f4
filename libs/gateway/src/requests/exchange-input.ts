import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HeldBytes } from '@slipway/platform-bounds';
import type { GatewayError } from '../gateway.errors.js';
import type { Log } from '../log.js';
import type { SessionBook } from '../sessions/session-book.js';
import type { GatewaySettings } from '../settings.js';
import type { Recorder } from '../telemetry/recorder.js';
import type { UsageBook } from '../telemetry/usage.js';
import type { Token } from '../tokens/token-book.js';
import type { RequestDestination } from './destination.js';

/** One admitted request and its destination. */
export interface ExchangeInput {
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
  /** `/v1/…`, without a query. */
  path: string;
  /** The body as upstream gets it. */
  body: Buffer;
  model: string;
  isStream: boolean;
  /** The gateway has added the request for usage to the body. */
  hasUsageOption: boolean;
  /** Names of the body's top-level members. */
  parameters: readonly string[];
  /** The memory that this request takes; its owner gives it back. */
  bytes: HeldBytes;
  destination: RequestDestination;
  /** Milliseconds that it was held. Undefined if it was not: then its arrival is not counted yet. */
  heldMs: number | undefined;
  token: Token;
  /** Returns why the token of the request is refused by now; undefined if it is not. */
  tokenEnd: () => GatewayError | undefined;
}

/** Parts that all exchanges of a gateway share. */
export interface ExchangeParts {
  sessions: SessionBook;
  recorder: Recorder;
  usage: UsageBook;
  settings: GatewaySettings;
  isRevisionServing: (revisionId: string) => boolean;
  log: Log;
}
