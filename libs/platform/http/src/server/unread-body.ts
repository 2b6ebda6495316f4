import type { FastifyReply, FastifyRequest } from 'fastify';

/** How long a client that was refused may go on sending before its connection is cut. */
const LINGER_MS = 10_000;

/**
 * Lets a client that is still sending read its refusal: closing at once would reset the connection, and with it the
 * answer. What it sends until then is thrown away.
 */
export function discardRest({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (raw.complete) return;
  reply.raw.once('finish', () => {
    raw.resume();
    const limit = setTimeout(() => raw.destroy(), LINGER_MS).unref();
    raw.once('close', () => clearTimeout(limit));
    raw.once('end', () => clearTimeout(limit));
  });
}
