import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  type ByteBounds,
  ByteBudget,
  CollectedBytes,
  type HeldBytes,
  JsonRefused,
  JsonScanner,
} from '@slipway/platform-bounds';
import { errors } from '../errors/platform.errors.js';
import { MERGE_PATCH } from '../fields/merge-patch.js';
import { BodyStart, forbiddenOrIncomplete, positionOfFault, repeatedName } from './json-faults.js';
import type { RequestShares } from './request-shares.js';
import type { SlipwayRequest } from './slipway-request.js';
import { type BodyWatch, WatchedBody } from './watched-body.js';

/** Deeper bodies have no meaning here. The limit makes recursion safe for code that walks a body. */
const MAX_DEPTH = 64;
/**
 * No valid request has more values. Parsing this many takes a few milliseconds and digesting them about 20 ms, in which
 * no other client is served.
 */
const MAX_WORK = 50_000;

type ParserCallback = (error: Error | null, body?: unknown) => void;
type FailureCallback = (failure: Error) => void;

interface BodyUnderWay {
  payload: NodeJS.ReadableStream;
  held: HeldBytes;
  watch(onEnd: FailureCallback): () => void;
}

type Parser = (request: FastifyRequest, text: string, done: ParserCallback) => void;

declare module 'fastify' {
  interface FastifyRequest {
    heldBytes?: HeldBytes;
  }
}

/**
 * Registers the body formats of the API: JSON everywhere, and raw streams if a route accepts them. Removes Fastify's
 * own parsers for JSON and text, so that any other format is a 415. A body ends with the access of its caller.
 * @param bounds bytes of JSON bodies that may be held at a time, until their requests are answered
 * @param shares decides when a large body is parsed
 */
export function registerBodyParsers(
  instance: FastifyInstance,
  bounds: ByteBounds,
  { shares, watch }: { shares: RequestShares; watch: BodyWatch },
): void {
  const budget = new ByteBudget(bounds, (whose) =>
    errors.unavailable({ message: `The in-flight requests of ${whose} have reached their limit of buffered bytes.` }),
  );
  // It refuses __proto__ and constructor.prototype, which JSON.parse would accept.
  const parse = instance.getDefaultJsonParser('error', 'error') as Parser;
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser(['application/json', MERGE_PATCH], (request, payload, done: ParserCallback) => {
    const { principal } = (request as SlipwayRequest).slipway;
    const held = budget.open({
      id: principal ? `${principal.actor.type}:${principal.actor.id}` : '',
      tenantId: principal?.tenantId ?? '',
    });
    request.heldBytes = held;
    const underWay = { payload, held, watch: (onEnd: FailureCallback) => watch(request as SlipwayRequest, onEnd) };
    collect(request, underWay, (failure, body) => {
      if (failure) return done(failure);
      const whole = body as Buffer;
      shares.beforeParse(request, whole.length, (refusal) =>
        refusal ? done(refusal) : readJson(parse, request, whole, done),
      );
    });
  });
  instance.addContentTypeParser('application/octet-stream', (request, payload, done) =>
    done(null, new WatchedBody(payload, (onEnd) => watch(request as SlipwayRequest, onEnd))),
  );
  instance.addHook('onRequest', (request, reply, done) => {
    reply.raw.once('close', () => {
      request.heldBytes?.release();
      if (request.body instanceof WatchedBody) request.body.abandon();
    });
    done();
  });
}

/**
 * Fastify's own collector limits the length of a body, but not the bytes held and the values parsed. This one refuses
 * at the first byte beyond a limit.
 */
function collect(request: FastifyRequest, { payload, held, watch }: BodyUnderWay, done: ParserCallback): void {
  const limit = request.routeOptions.bodyLimit;
  const tooLarge = (): Error => errors.body_too_large({ extra: { max_bytes: limit } });
  if (Number(request.headers['content-length']) > limit) return done(tooLarge());
  const scanner = new JsonScanner({ maxDepth: MAX_DEPTH, maxWork: MAX_WORK });
  const body = new CollectedBytes();
  const start = new BodyStart();
  const onData = (chunk: Buffer): void => {
    try {
      if (body.size + chunk.length > limit) throw tooLarge();
      held.take(chunk.length);
      // JSON has no byte order mark, but some editors and shells write one before the text.
      const text = start.withoutMark(chunk);
      body.push(text);
      scanner.push(text);
    } catch (error) {
      stop(error instanceof JsonRefused ? refusalOf(error, body) : (error as Error));
    }
  };
  const onEnd = (): void => stop(start.isIncomplete ? notJson(undefined) : null);
  const stop = (failure: Error | null): void => {
    unwatch();
    payload.off('data', onData).off('end', onEnd).off('error', stop);
    done(failure, failure ? undefined : body.whole());
  };
  const unwatch = watch(stop);
  payload.on('data', onData).on('end', onEnd).on('error', stop).on('close', unwatch);
}

function refusalOf({ fault }: JsonRefused, body: CollectedBytes): Error {
  if (fault === 'too_deep')
    return errors.invalid_json({ message: `The request body is nested more than ${MAX_DEPTH} levels deep.` });
  if (fault === 'too_much') return errors.invalid_json({ message: 'The request body contains too many values.' });
  return notJson(positionOfFault(body));
}

const notJson = (position: string | undefined): Error =>
  errors.invalid_json(position === undefined ? {} : { message: `The request body is not valid JSON: ${position}.` });

function readJson(parse: Parser, request: FastifyRequest, body: Buffer, done: ParserCallback): void {
  if (body.length === 0) return done(null, {});
  if (!isUtf8(body)) return done(errors.invalid_json({ message: 'The request body is not UTF-8.' }));
  const text = body.toString('utf8');
  parse(request, text, (failure, value) => {
    if (failure) return done(notJson(forbiddenOrIncomplete(text)));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return done(errors.invalid_parameter({ message: 'The request body must be a JSON object.' }));
    }
    const repeated = repeatedName(text);
    if (repeated === undefined) return done(null, value);
    return done(
      errors.invalid_json({
        message: `The request body has \`${repeated}\` twice in one object.`,
        remediation: 'Send each name once.',
      }),
    );
  });
}
