import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ByteBudget, JsonRefused, JsonScanner, type ByteBounds, type HeldBytes } from '@slipway/platform-bounds';
import { errors } from '../errors/platform.errors.js';
import { MERGE_PATCH } from '../fields/merge-patch.js';
import type { SlipwayRequest } from './slipway-request.js';

/** Deeper bodies have no meaning here, and code that walks a body may then recurse. */
const MAX_DEPTH = 64;
/** No request says more: parsing it takes some 10 ms, during which nobody else is served. */
const MAX_WORK = 200_000;

type ParserCallback = (error: Error | null, body?: unknown) => void;
type Parser = (request: FastifyRequest, text: string, done: ParserCallback) => void;

declare module 'fastify' {
  interface FastifyRequest {
    heldBytes?: HeldBytes;
  }
}

/**
 * Registers the body formats of the API: JSON everywhere, raw streams if a route asks for them. Fastify's own parsers
 * for JSON and text are taken out, so that anything else is a 415.
 * @param bounds bytes of JSON bodies that may be held at a time, until their requests are answered
 */
export function registerBodyParsers(instance: FastifyInstance, bounds: ByteBounds): void {
  const budget = new ByteBudget(bounds, (whose) =>
    errors.unavailable({ message: `The requests of ${whose} in flight hold as many bytes as they may.` }),
  );
  // It refuses __proto__ and constructor.prototype, which JSON.parse would let through.
  const parse = instance.getDefaultJsonParser('error', 'error') as Parser;
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser(['application/json', MERGE_PATCH], (request, payload, done: ParserCallback) => {
    const { principal } = (request as SlipwayRequest).slipway;
    const held = budget.open({
      id: principal ? `${principal.actor.type}:${principal.actor.id}` : '',
      tenantId: principal?.tenantId ?? '',
    });
    request.heldBytes = held;
    collect(request, payload, held, (failure, body) =>
      failure ? done(failure) : readJson(parse, request, body as Buffer, done),
    );
  });
  instance.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload));
  instance.addHook('onRequest', (request, reply, done) => {
    reply.raw.once('close', () => request.heldBytes?.release());
    done();
  });
}

/** Fastify's own collector bounds a body's length, and nothing that is held or parsed; this one refuses at the first byte too much. */
function collect(request: FastifyRequest, payload: NodeJS.ReadableStream, held: HeldBytes, done: ParserCallback): void {
  const limit = request.routeOptions.bodyLimit;
  const tooLarge = (): Error => errors.body_too_large({ extra: { max_bytes: limit } });
  if (Number(request.headers['content-length']) > limit) return done(tooLarge());
  const scanner = new JsonScanner({ maxDepth: MAX_DEPTH, maxWork: MAX_WORK });
  const chunks: Buffer[] = [];
  let size = 0;
  const onData = (chunk: Buffer): void => {
    try {
      size += chunk.length;
      if (size > limit) throw tooLarge();
      held.take(chunk.length);
      scanner.push(chunk);
      chunks.push(chunk);
    } catch (error) {
      stop(error instanceof JsonRefused ? refusalOf(error) : (error as Error));
    }
  };
  const onEnd = (): void => stop(null);
  const stop = (failure: Error | null): void => {
    payload.off('data', onData).off('end', onEnd).off('error', stop);
    done(failure, failure ? undefined : Buffer.concat(chunks, size));
  };
  payload.on('data', onData).on('end', onEnd).on('error', stop);
}

function refusalOf({ fault }: JsonRefused): Error {
  if (fault === 'too_deep')
    return errors.invalid_json({ message: `The request body is nested more than ${MAX_DEPTH} levels deep.` });
  if (fault === 'too_much') return errors.invalid_json({ message: 'The request body holds too many values.' });
  return errors.invalid_json();
}

function readJson(parse: Parser, request: FastifyRequest, body: Buffer, done: ParserCallback): void {
  if (body.length === 0) return done(null, {});
  if (!isUtf8(body)) return done(errors.invalid_json({ message: 'The request body is not UTF-8.' }));
  parse(request, body.toString('utf8'), (failure, value) => {
    if (failure) return done(errors.invalid_json());
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return done(errors.invalid_parameter({ message: 'The request body must be a JSON object.' }));
    }
    return done(null, value);
  });
}
