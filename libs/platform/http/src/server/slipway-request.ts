import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { EnteredCredential, RequestContext } from '../context/request-context.js';
import { API_PREFIX, type RouteSpec } from '../routes/route-spec.js';

/** A Fastify request after the first hook of this library. */
export type SlipwayRequest = FastifyRequest<{
  Querystring: Record<string, unknown>;
  Params: Record<string, string>;
  Headers: { 'idempotency-key'?: string | string[] };
}> & { slipway: RequestContext };

export type SlipwayReply = FastifyReply;

/** The configuration that `@Route` stores on the Fastify route. */
export interface RouteConfig {
  slipway?: RouteSpec;
}

export function routeOf(request: FastifyRequest): RouteSpec | undefined {
  return (request.routeOptions?.config as RouteConfig | undefined)?.slipway;
}

/** Another entrance to the api, for callers whose credential is not in `Authorization`. */
export interface Entrance {
  /** Prefix of the api's own paths: under `/console`, `/console/api/v1/whoami` is `/api/v1/whoami`. */
  prefix: string;
  /**
   * Returns the bearer credential of a request. Streams that stay open call it again.
   * @param cookie the request's cookies, which no other code sees
   * @throws unauthenticated (401), or a 403
   */
  credentialOf(request: SlipwayRequest, cookie: string | undefined): Promise<EnteredCredential>;
}

/**
 * Answers may contain text that a tenant uploaded. With this policy it runs no script if a browser opens it as a page
 * of the console's origin.
 */
const ANSWER_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

/**
 * Rewrites requests of entrances to the api's own paths before they are routed. So each operation is the same one, with
 * the same checks, streams and limits, and no second server is needed.
 */
export class Entrances {
  private readonly all: Entrance[] = [];
  private readonly entered = new WeakMap<IncomingMessage, { entrance: Entrance; cookie: string | undefined }>();

  add(entrance: Entrance): void {
    this.all.push(entrance);
  }

  /**
   * Returns the path under which a request is routed. From a request through an entrance, it removes cookies and any
   * credential of the client.
   */
  moved(raw: IncomingMessage): string {
    const url = raw.url ?? '';
    const entrance = this.all.find(({ prefix }) => url.startsWith(`${prefix}${API_PREFIX}/`));
    if (!entrance) return url;
    this.entered.set(raw, { entrance, cookie: raw.headers.cookie });
    delete raw.headers.cookie;
    delete raw.headers.authorization;
    return url.slice(entrance.prefix.length);
  }

  /** Call it after the hook that opens the context is added, and before the guard's. */
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
