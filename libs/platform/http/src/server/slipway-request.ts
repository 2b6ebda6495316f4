import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestContext } from '../context/request-context.js';
import { API_PREFIX, type RouteSpec } from '../routes/route-spec.js';

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

/** A second way into the api, for callers whose credential is not in `Authorization`. */
export interface Entrance {
  /** What stands before the api's own paths: under `/console`, `/console/api/v1/whoami` is `/api/v1/whoami`. */
  prefix: string;
  /**
   * The bearer credential of a request. Asked again by streams that stay open.
   * @param cookie the request's cookies, which nobody else sees
   * @throws unauthenticated (401), or a 403
   */
  credentialOf(request: SlipwayRequest, cookie: string | undefined): Promise<string>;
}

/** Answers may hold what a tenant uploaded: opened as a page of the console's origin, they run nothing. */
const ANSWER_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

/**
 * Requests of entrances are moved to the api's own paths before they are routed, so that each operation is the same one, with the same
 * checks, streams and limits, and there is no second server behind the first.
 */
export class Entrances {
  private readonly all: Entrance[] = [];
  private readonly entered = new WeakMap<IncomingMessage, { entrance: Entrance; cookie: string | undefined }>();

  add(entrance: Entrance): void {
    this.all.push(entrance);
  }

  /** The path under which a request is routed. Takes cookies and any credential of the client's own from one that came by an entrance. */
  moved(raw: IncomingMessage): string {
    const url = raw.url ?? '';
    const entrance = this.all.find(({ prefix }) => url.startsWith(`${prefix}${API_PREFIX}/`));
    if (!entrance) return url;
    this.entered.set(raw, { entrance, cookie: raw.headers.cookie });
    delete raw.headers.cookie;
    delete raw.headers.authorization;
    return url.slice(entrance.prefix.length);
  }

  /** To be added after the hook that opens the context, and before the guard's. */
  addHook(instance: FastifyInstance): void {
    instance.addHook('onRequest', (request, reply, done) => {
      const came = this.entered.get(request.raw);
      if (!came) return done();
      const asked = request as SlipwayRequest;
      asked.slipway.credential = () => came.entrance.credentialOf(asked, came.cookie);
      void reply.header('content-security-policy', ANSWER_POLICY);
      return done();
    });
  }
}
