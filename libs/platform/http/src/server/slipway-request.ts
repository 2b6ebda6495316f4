import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestContext } from '../context/request-context.js';
import type { RouteSpec } from '../routes/route-spec.js';

/** A Fastify request after this lib's first hook. */
export type SlipwayRequest = FastifyRequest<{
  Querystring: Record<string, unknown>;
  Params: Record<string, string>;
  Headers: { 'idempotency-key'?: string | string[] };
}> & { slipway: RequestContext };

export type SlipwayReply = FastifyReply;

/** What `@Route` leaves on the Fastify route. */
export interface RouteConfig {
  slipway?: RouteSpec;
}

export function routeOf(request: FastifyRequest): RouteSpec | undefined {
  return (request.routeOptions?.config as RouteConfig | undefined)?.slipway;
}
