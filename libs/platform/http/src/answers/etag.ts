import { hash } from 'node:crypto';
import { errors } from '../errors/platform.errors.js';

/**
 * A strong ETag over the parts that make two states of a resource different. By hand, because Fastify's plugin for ETags
 * hashes an answer that was already made, and a write must be refused before there is one.
 */
export function etagOf(...parts: (string | number | boolean | null)[]): string {
  return `"${hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 27)}"`;
}

/** A strong ETag over the text of an answer, which changes with all that it shows. SHA-1 is not for safety here: who made the text is asked for it. */
export function etagOfText(text: string): string {
  return `"${hash('sha1', text, 'base64url')}"`;
}

/**
 * Refuses a write whose `If-Match` names another state.
 * @param header the header as it came; undefined means that the client does not mind
 * @param etag the resource's current ETag, or undefined if the resource does not exist yet
 * @throws precondition_failed (412)
 */
export function assertIfMatch(header: string | undefined, etag: string | undefined): void {
  if (header === undefined) return;
  if (etag !== undefined && (header.trim() === '*' || tagsOf(header).includes(etag))) return;
  throw errors.precondition_failed({ headers: etag === undefined ? undefined : { etag } });
}

/** Whether `If-None-Match` says that the client already has this state, so that 304 is the answer. */
export function isUnchanged(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  // RFC 9110 13.1.2: this header compares weakly, so W/ does not count.
  return tagsOf(header).some((tag) => tag.replace(/^W\//, '') === etag);
}

function tagsOf(header: string): string[] {
  return header.match(/(W\/)?"[^"]*"/g) ?? [`"${header.trim()}"`];
}
