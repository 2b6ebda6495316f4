import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { errors } from '../errors/platform.errors.js';

/** Deeper bodies have no meaning here, and code that walks a body may then recurse. */
const MAX_DEPTH = 64;

type Done = (error: Error | null, body?: unknown) => void;

/**
 * Registers the body formats of the API: JSON everywhere, raw streams if a route asks for them. Fastify's own parsers
 * for JSON and text are taken out, so that anything else is a 415.
 */
export function registerBodyParsers(instance: FastifyInstance): void {
  // It refuses __proto__ and constructor.prototype, which JSON.parse would let through.
  const parse = instance.getDefaultJsonParser('error', 'error');
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) =>
    readJson(parse as Parser, request, body, done),
  );
  instance.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload));
}

type Parser = (request: FastifyRequest, text: string, done: Done) => void;

function readJson(parse: Parser, request: FastifyRequest, body: Buffer, done: Done): void {
  if (body.length === 0) return done(null, {});
  if (!isUtf8(body)) return done(errors.invalid_json({ message: 'The request body is not UTF-8.' }));
  parse(request, body.toString('utf8'), (failure, value) => {
    if (failure) return done(errors.invalid_json());
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return done(errors.invalid_parameter({ message: 'The request body must be a JSON object.' }));
    }
    if (depthExceeds(value, MAX_DEPTH)) {
      return done(errors.invalid_json({ message: `The request body is nested more than ${MAX_DEPTH} levels deep.` }));
    }
    return done(null, value);
  });
}

/** Walks level by level, because recursion is what a deep body would break. */
function depthExceeds(value: object, limit: number): boolean {
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    const next: object[] = [];
    for (const container of level) {
      for (const item of Object.values(container) as unknown[]) {
        if (typeof item === 'object' && item !== null) next.push(item);
      }
    }
    level = next;
  }
  return false;
}
