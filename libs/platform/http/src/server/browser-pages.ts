import { preferredMediaType } from '@slipway/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Pages for people who open the api in a browser: at `/`, and at paths that do not exist. */
export interface BrowserPages {
  /** Whether these pages serve a path. */
  has(path: string): boolean;
  answer(request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
}

const FORMS = ['application/json', 'text/html'];

/** Browsers name HTML; programs that accept anything get JSON. */
export function wantsPage({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && preferredMediaType(headers.accept, FORMS) === 'text/html';
}
