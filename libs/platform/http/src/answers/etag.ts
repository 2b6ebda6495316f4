import { hash } from 'node:crypto';
import { errors } from '../errors/platform.errors.js';

/**
 * Returns a strong ETag over the parts that make two states of a resource different.
 * Fastify's ETag plugin does not fit: it hashes a finished answer, but a write must be refused before one exists.
 */
export function etagOf(...parts: (string | number | boolean | null)[]): string {
  return `"${hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 27)}"`;
}

/**
 * Returns a strong ETag over the text of an answer, so it changes with everything that the answer shows.
 * SHA-1 is enough, because the ETag is no protection: only the server that wrote the text compares it.
 */
export function etagOfText(text: string): string {
  return `"${hash('sha1', text, 'base64url')}"`;
}

/** The conditions of a write, as the client sent them (RFC 9110, 13.1). */
export interface Preconditions {
  ifMatch?: string;
  /** `*` writes only what does not exist yet. */
  ifNoneMatch?: string;
}

/**
 * Refuses a write whose conditions do not hold.
 * @param etag the resource's current ETag, or undefined if the resource does not exist yet
 * @throws precondition_failed (412)
 */
export function assertPreconditions({ ifMatch, ifNoneMatch }: Preconditions, etag: string | undefined): void {
  const headers = etag === undefined ? undefined : { etag };
  if (ifMatch !== undefined) {
    const holds = etag !== undefined && (ifMatch.trim() === '*' || tagsOf(ifMatch).includes(etag));
    if (!holds) throw errors.precondition_failed({ headers });
  }
  if (etag !== undefined && isUnchanged(ifNoneMatch, etag)) {
    throw errors.precondition_failed({
      headers,
      message: 'If-None-Match excludes the current state of the resource.',
      remediation: 'Read the resource, and send its ETag in If-Match if you want to change it.',
    });
  }
}

/** Whether `If-None-Match` shows that the client already has this state, so that the answer is 304. */
export function isUnchanged(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  // RFC 9110 13.1.2: this header is compared weakly, so W/ is ignored.
  return tagsOf(header).some((tag) => tag.replace(/^W\//, '') === etag);
}

function tagsOf(header: string): string[] {
  return header.match(/(W\/)?"[^"]*"/g) ?? [`"${header.trim()}"`];
}
