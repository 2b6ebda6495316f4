import type { FastifyReply, FastifyRequest } from 'fastify';

/** Pages for people who open the api in a browser: at `/`, and at paths that do not exist. */
export interface BrowserPages {
  /** Whether these pages serve a path. */
  has(path: string): boolean;
  answer(request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
}

export function wantsPage({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true;
}
