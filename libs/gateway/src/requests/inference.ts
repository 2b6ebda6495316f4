import type { KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  GatewayError,
  gatewayStopping,
  invalidParameter,
  missingParameter,
  overloaded,
  tooManyBytes,
} from '../gateway.errors.js';
import type { EndCallback, HeldRequest } from '../holds/hold-queue.js';
import { sessionOf, type ClientSession } from '../sessions/session-book.js';
import type { Token } from '../tokens/token-book.js';
import type { TokenEnds } from '../tokens/token-ends.js';
import type { ClientLimits } from '../tokens/token-limits.js';
import { assertAcceptable, ClientGoneError, readBody, type Refusal } from './body-reader.js';
import { ByteBudget } from '@slipway/platform-bounds';
import { cacheSaltMember } from './cache-salt.js';
import { PendingDraw, type RequestDestination, type Destinations } from './destination.js';
import { Exchange } from './exchange.js';
import type { ExchangeParts } from './exchange-input.js';
import { MediaCheck } from './media-check.js';
import { editTopLevel } from './request-body.js';
import { mayRequestUsage, modelWithOption } from './usage-option.js';

/** The tokens of requests, and their ends. */
export interface RequestTokens {
  /**
   * Returns known tokens at once, and a promise only if Postgres must be queried.
   * @throws GatewayError 401, 429 or 503
   */
  check(request: IncomingMessage): Token | Promise<Token>;
  /** Ends requests that no engine has yet when their token ends. */
  readonly ends: Pick<TokenEnds, 'watch' | 'release' | 'endOf'>;
}

/**
 * A request that no engine has yet. It may be ended from outside while its body arrives, while it waits for its
 * deployment, and between these: then at its next step.
 */
class PendingRequest {
  private error: GatewayError | undefined;
  private refuse: Refusal | undefined;

  /** The first error counts. */
  end(error: GatewayError): void {
    this.error ??= error;
    this.refuse?.(this.error);
  }

  /** @param refuse ends what the request waits for from now on; undefined if it waits for nothing */
  readonly waitsFor = (refuse: Refusal | undefined): void => {
    this.refuse = refuse;
    if (refuse && this.error) refuse(this.error);
  };

  /** @throws GatewayError if it was ended */
  assertOpen(): void {
    if (this.error) throw this.error;
  }
}

/** The reservations of a request, in addition to its count as in flight. */
interface RequestReservation {
  /** The binding whose limits count it. */
  bindingId: string | undefined;
  notifyEnd: EndCallback | undefined;
}

/** A request that waits for its deployment and is then drawn again. */
interface DrawRequest {
  response: ServerResponse;
  model: string;
  token: Token;
  session: ClientSession | undefined;
  bytes: number;
  /** By `performance.now()`. */
  arrivedAt: number;
  reserved: RequestReservation;
  pending: PendingRequest;
}

/** Handles an inference request until its exchange with upstream begins. */
export class Inference {
  /** Requests between their admission and their end. */
  inFlight = 0;
  readonly bytes: ByteBudget;
  private readonly unsent = new Set<PendingRequest>();
  private readonly exchanges = new Set<Exchange>();
  private isStopped = false;

  constructor(
    private readonly tokens: RequestTokens,
    private readonly limits: ClientLimits,
    private readonly destinations: Destinations,
    private readonly parts: ExchangeParts,
    private readonly saltKey: KeyObject,
  ) {
    this.bytes = new ByteBudget(parts.settings.maxHeldBytes, tooManyBytes);
  }

  /** Resolves once the request is sent upstream; rejects with the error to answer instead. */
  async handle(request: IncomingMessage, response: ServerResponse, path: string, requestId: string): Promise<void> {
    const checked = this.tokens.check(request);
    const token = checked instanceof Promise ? await checked : checked;
    if (this.isStopped) throw gatewayStopping();
    if (this.inFlight >= this.parts.settings.maxConcurrency) throw overloaded();
    this.limits.enter(token);
    this.inFlight += 1;
    const bytes = this.bytes.open(token);
    let isHandedOver = false;
    const reserved: RequestReservation = { bindingId: undefined, notifyEnd: undefined };
    const pending = new PendingRequest();
    const leave = (): void => {
      this.inFlight -= 1;
      bytes.release();
      this.limits.leave(token);
      if (reserved.bindingId !== undefined) this.destinations.limits.leave(reserved.bindingId, token.tenantId);
      reserved.notifyEnd?.();
    };
    this.unsent.add(pending);
    this.tokens.ends.watch(token, pending);
    try {
      assertAcceptable(request, this.parts.settings.maxBodyBytes);
      const sent = await readBody(request, this.parts.settings.maxBodyBytes, bytes, pending.waitsFor);
      const { model, stream } = sent.fields;
      if (model === undefined) throw missingParameter('model');
      if (typeof model !== 'string' || model === '') throw invalidParameter('model', 'a string');
      if (stream !== undefined && stream !== null && typeof stream !== 'boolean')
        throw invalidParameter('stream', 'a boolean');

      const media = new MediaCheck(sent);
      const known = this.destinations.mediaRules(model, token.tenantId);
      if (known.length > 0) {
        await media.assertAllowed(known);
        pending.assertOpen();
      }
      // Its 'close' event has passed, so the exchange would never learn of it.
      if (response.destroyed) throw new ClientGoneError();
      const session = sessionOf(request.headers, sent.fields);
      const arrivedAt = performance.now();
      const drawn = this.destinations.draw(model, token, session, arrivedAt);
      const isHeld = drawn instanceof PendingDraw;
      const destination = isHeld
        ? await this.afterHold(drawn, {
            response,
            model,
            token,
            session,
            bytes: sent.text.length,
            arrivedAt,
            reserved,
            pending,
          })
        : drawn;
      reserved.bindingId = destination.published?.bindingId;
      if (destination.mediaRules.length > 0) {
        // A binding may lead to a deployment with a rule of its own, and a rule may have changed in a wait.
        await media.assertAllowed(destination.mediaRules);
        if (response.destroyed) throw new ClientGoneError();
      }
      const parameters = sent.members.map(({ name }) => name);
      const isStream = stream === true;
      const { spec, refusesUsageOption } = destination.backend;
      const hasUsageOption = !refusesUsageOption && mayRequestUsage(path, isStream, parameters);
      const named = hasUsageOption ? modelWithOption(spec.modelId) : JSON.stringify(spec.modelId);
      const set = { model: named, ...cacheSaltMember(this.saltKey, token.tenantId, model, sent.fields.cache_salt) };
      const body = editTopLevel(sent, set, ['session_id']);
      const input = {
        request,
        response,
        requestId,
        path,
        body,
        bytes,
        model,
        isStream,
        hasUsageOption,
        parameters,
        destination,
        heldMs: isHeld ? performance.now() - arrivedAt : undefined,
        token,
        tokenEnd: () => this.tokens.ends.endOf(token),
      };
      pending.assertOpen();
      isHandedOver = true;
      const exchange = new Exchange(input, this.parts, () => {
        this.exchanges.delete(exchange);
        leave();
      });
      this.exchanges.add(exchange);
      exchange.start();
    } finally {
      this.unsent.delete(pending);
      this.tokens.ends.release(token, pending);
      if (!isHandedOver) leave();
    }
  }

  /** Ends every request now, with an error that its client can read, and accepts no more. */
  stop(): void {
    this.isStopped = true;
    for (const pending of [...this.unsent]) pending.end(gatewayStopping());
    for (const exchange of [...this.exchanges]) exchange.stop(gatewayStopping());
  }

  /** Resolves with the destination once a queue releases the request. @throws GatewayError, ClientGoneError */
  private async afterHold(first: PendingDraw, request: DrawRequest): Promise<RequestDestination> {
    const { response, model, token, session, bytes, arrivedAt, reserved, pending } = request;
    const ended = new AbortController();
    response.once('close', () => ended.abort());
    pending.waitsFor((error) => ended.abort(error));
    this.parts.recorder.arrive(first.keys, 0, false);
    let drawn: RequestDestination | PendingDraw = first;
    while (drawn instanceof PendingDraw) {
      const waited: PendingDraw = drawn;
      reserved.bindingId = waited.bindingId;
      reserved.notifyEnd?.();
      reserved.notifyEnd = undefined;
      const waiting = { tenantId: token.tenantId, bytes, arrivedAt, signal: ended.signal };
      try {
        reserved.notifyEnd = await this.waitIn(waited, waiting);
      } finally {
        response.setHeader('x-slipway-held-ms', Math.round(performance.now() - arrivedAt));
      }
      // It may have been released in the moment in which it was ended.
      pending.assertOpen();
      drawn = this.destinations.draw(model, token, session, performance.now(), waited);
      const counted = drawn instanceof PendingDraw ? drawn.bindingId : drawn.published?.bindingId;
      if (waited.bindingId !== undefined && waited.bindingId !== counted)
        this.destinations.limits.leave(waited.bindingId, token.tenantId);
    }
    return drawn;
  }

  /** Records a request that is refused in place of being held, or that is held in vain. */
  private async waitIn({ queue, keys }: PendingDraw, request: HeldRequest): Promise<EndCallback> {
    const { recorder } = this.parts;
    let isHeld = false;
    try {
      const released = queue.wait(request);
      isHeld = true;
      return await released;
    } catch (error) {
      if (isHeld) recorder.hold(keys, performance.now() - request.arrivedAt);
      // A gateway that stops, and a token that ends, abort the signal. They say nothing about instances.
      if (error instanceof GatewayError && !request.signal.aborted) recorder.refuse(keys);
      throw error;
    }
  }
}
