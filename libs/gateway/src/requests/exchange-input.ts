import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HeldBytes } from '@slipway/platform-bounds';
import type { SessionBook } from '../sessions/session-book.js';
import type { GatewaySettings } from '../settings.js';
import type { Recorder } from '../telemetry/recorder.js';
import type { UsageBook } from '../telemetry/usage.js';
import type { Token } from '../tokens/token-book.js';
import type { Destination } from './destination.js';

/** One admitted request, and where it was drawn to go. */
export interface ExchangeInput {
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
  /** `/v1/…`, without a query. */
  path: string;
  /** As upstream shall read it. */
  body: Buffer;
  model: string;
  isStream: boolean;
  /** Names of the body's top level. */
  parameters: readonly string[];
  /** What this request holds in memory; its owner gives it back. */
  held: HeldBytes;
  destination: Destination;
  token: Token;
}

/** What all exchanges of a gateway share. */
export interface ExchangeParts {
  sessions: SessionBook;
  recorder: Recorder;
  usage: UsageBook;
  settings: GatewaySettings;
  isRevisionServing: (revisionId: string) => boolean;
}
