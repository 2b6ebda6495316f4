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

/**
 * Refuses a write whose `If-Match` names another state.
 * @param header the header as the client sent it; undefined if the client accepts any state
 * @param etag the resource's current ETag, or undefined if the resource does not exist yet
 * @throws precondition_failed (412)
 */
export function assertIfMatch(header: string | undefined, etag: string | undefined): void {
  if (header === undefined) return;
  if (etag !== undefined && (header.trim() === '*' || tagsOf(header).includes(etag))) return;
  throw errors.precondition_failed({ headers: etag === undefined ? undefined : { etag } });
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
