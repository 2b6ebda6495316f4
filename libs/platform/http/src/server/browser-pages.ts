import type { FastifyReply, FastifyRequest } from 'fastify';

/** What people get who ask with a browser: at `/`, and where nothing else stands. */
export interface BrowserPages {
  /** Whether a path is one of theirs. */
  has(path: string): boolean;
  answer(request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
}

export function wantsPage({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true;
}
