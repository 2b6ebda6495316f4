import type { IncomingMessage, ServerResponse } from 'node:http';
import { invalidJson, invalidParameter, missingParameter, overloaded } from '../gateway.errors.js';
import { sessionOf } from '../sessions/session.js';
import type { TokenBook } from '../tokens/token-book.js';
import type { TokenLimits } from '../tokens/token-limits.js';
import { assertAcceptable, ClientGoneError, readBody } from './body-reader.js';
import type { Destination, Destinations } from './destination.js';
import { Exchange, type ExchangeParts } from './exchange.js';
import { editTopLevel } from './json-edit.js';

/** The way of one inference request up to the moment its exchange with upstream begins. */
export class Inference {
  /** Requests between their admission and their end. */
  inFlight = 0;

  constructor(
    private readonly tokens: TokenBook,
    private readonly limits: TokenLimits,
    private readonly destinations: Destinations,
    private readonly parts: ExchangeParts,
  ) {}

  /** Resolves once upstream is asked; rejects with what is to be answered instead. */
  async handle(request: IncomingMessage, response: ServerResponse, path: string, requestId: string): Promise<void> {
    const checked = this.tokens.check(request.headers.authorization);
    const token = checked instanceof Promise ? await checked : checked;
    if (this.inFlight >= this.parts.settings.maxConcurrency) throw overloaded();
    this.limits.enter(token.id);
    this.inFlight += 1;
    let isHandedOver = false;
    const leave = (destination?: Destination): void => {
      this.inFlight -= 1;
      this.limits.leave(token.id);
      if (destination?.published) this.destinations.limits.leave(destination.published.bindingId);
    };
    try {
      assertAcceptable(request, this.parts.settings.maxBodyBytes);
      const sent = await readBody(request, this.parts.settings.maxBodyBytes);
      const fields = parsedBody(sent);
      const { model, stream } = fields;
      if (model === undefined) throw missingParameter('model');
      if (typeof model !== 'string' || model === '') throw invalidParameter('model', 'a string');
      if (stream !== undefined && stream !== null && typeof stream !== 'boolean')
        throw invalidParameter('stream', 'a boolean');

      // Its 'close' is over and nothing else would tell the exchange.
      if (response.destroyed) throw new ClientGoneError();
      const destination = this.destinations.draw(model, token, sessionOf(request.headers, fields), Date.now());
      const body = editTopLevel(sent, { model: JSON.stringify(destination.backend.spec.modelId) }, ['session_id']);
      const input = { request, response, requestId, path, body, model, isStream: stream === true, fields, destination };
      isHandedOver = true;
      new Exchange(input, this.parts, () => leave(destination)).start();
    } finally {
      if (!isHandedOver) leave();
    }
  }
}

function parsedBody(sent: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(sent.toString('utf8'));
  } catch {
    throw invalidJson();
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidJson();
  return value as Record<string, unknown>;
}
