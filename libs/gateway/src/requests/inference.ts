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
import type { ClientLimits } from '../tokens/token-limits.js';
import { assertAcceptable, ClientGoneError, readBody, type Refusal } from './body-reader.js';
import { ByteBudget } from '@slipway/platform-bounds';
import { cacheSaltMember } from './cache-salt.js';
import { PendingDraw, type RequestDestination, type Destinations } from './destination.js';
import { Exchange } from './exchange.js';
import type { ExchangeParts } from './exchange-input.js';
import { editTopLevel } from './request-body.js';
import { mayRequestUsage, modelWithOption } from './usage-option.js';

/**
 * Returns known tokens at once, and a promise only if Postgres must be queried.
 * @throws GatewayError 401, 429 or 503
 */
export type TokenCheck = (request: IncomingMessage) => Token | Promise<Token>;

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
}

/** Handles an inference request until its exchange with upstream begins. */
export class Inference {
  /** Requests between their admission and their end. */
  inFlight = 0;
  readonly bytes: ByteBudget;
  private readonly unread = new Set<Refusal>();
  private readonly exchanges = new Set<Exchange>();
  private isStopped = false;

  constructor(
    private readonly checkToken: TokenCheck,
    private readonly limits: ClientLimits,
    private readonly destinations: Destinations,
    private readonly parts: ExchangeParts,
    private readonly saltKey: KeyObject,
  ) {
    this.bytes = new ByteBudget(parts.settings.maxHeldBytes, tooManyBytes);
  }

  /** Resolves once the request is sent upstream; rejects with the error to answer instead. */
  async handle(request: IncomingMessage, response: ServerResponse, path: string, requestId: string): Promise<void> {
    const checked = this.checkToken(request);
    const token = checked instanceof Promise ? await checked : checked;
    if (this.isStopped) throw gatewayStopping();
    if (this.inFlight >= this.parts.settings.maxConcurrency) throw overloaded();
    this.limits.enter(token);
    this.inFlight += 1;
    const bytes = this.bytes.open(token);
    let isHandedOver = false;
    const reserved: RequestReservation = { bindingId: undefined, notifyEnd: undefined };
    const leave = (): void => {
      this.inFlight -= 1;
      bytes.release();
      this.limits.leave(token);
      if (reserved.bindingId !== undefined) this.destinations.limits.leave(reserved.bindingId, token.tenantId);
      reserved.notifyEnd?.();
    };
    try {
      assertAcceptable(request, this.parts.settings.maxBodyBytes);
      const sent = await readBody(request, this.parts.settings.maxBodyBytes, bytes, this.unread);
      const { model, stream } = sent.fields;
      if (model === undefined) throw missingParameter('model');
      if (typeof model !== 'string' || model === '') throw invalidParameter('model', 'a string');
      if (stream !== undefined && stream !== null && typeof stream !== 'boolean')
        throw invalidParameter('stream', 'a boolean');

      // Its 'close' event has passed, so the exchange would never learn of it.
      if (response.destroyed) throw new ClientGoneError();
      const session = sessionOf(request.headers, sent.fields);
      const arrivedAt = performance.now();
      const drawn = this.destinations.draw(model, token, session, arrivedAt);
      const isHeld = drawn instanceof PendingDraw;
      const destination = isHeld
        ? await this.afterHold(drawn, { response, model, token, session, bytes: sent.text.length, arrivedAt, reserved })
        : drawn;
      reserved.bindingId = destination.published?.bindingId;
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
      };
      if (this.isStopped) throw gatewayStopping();
      isHandedOver = true;
      const exchange = new Exchange(input, this.parts, () => {
        this.exchanges.delete(exchange);
        leave();
      });
      this.exchanges.add(exchange);
      exchange.start();
    } finally {
      if (!isHandedOver) leave();
    }
  }

  /** Ends every request now, with an error that its client can read, and accepts no more. */
  stop(): void {
    this.isStopped = true;
    for (const refuse of [...this.unread]) refuse(gatewayStopping());
    for (const exchange of [...this.exchanges]) exchange.stop(gatewayStopping());
  }

  /** Resolves with the destination once a queue releases the request. @throws GatewayError, ClientGoneError */
  private async afterHold(pending: PendingDraw, request: DrawRequest): Promise<RequestDestination> {
    const { response, model, token, session, bytes, arrivedAt, reserved } = request;
    const client = new AbortController();
    response.once('close', () => client.abort());
    this.parts.recorder.arrive(pending.keys, 0, false);
    let drawn: RequestDestination | PendingDraw = pending;
    while (drawn instanceof PendingDraw) {
      const waited: PendingDraw = drawn;
      reserved.bindingId = waited.bindingId;
      reserved.notifyEnd?.();
      reserved.notifyEnd = undefined;
      const waiting = { tenantId: token.tenantId, bytes, arrivedAt, signal: client.signal };
      try {
        reserved.notifyEnd = await this.waitIn(waited, waiting);
      } finally {
        response.setHeader('x-slipway-held-ms', Math.round(performance.now() - arrivedAt));
      }
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
      // A gateway that stops refuses requests too, which says nothing about instances.
      if (error instanceof GatewayError && !this.isStopped) recorder.refuse(keys);
      throw error;
    }
  }
}
