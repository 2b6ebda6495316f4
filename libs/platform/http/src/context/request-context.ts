import { AsyncLocalStorage } from 'node:async_hooks';
import { logContext, type LogContext } from '@slipway/platform-observability';
import type { RouteSpec } from '../routes/route-spec.js';
import type { Principal } from './principal.js';

/**
 * What the client should know of a request that was accepted. `unknown_field`: nobody knows the field, which was dropped; `no_route`: what
 * the request makes will take no traffic.
 */
export interface Warning {
  code: 'unknown_field' | 'no_route';
  /** Dotted path of the field that it is about. */
  field: string;
  /** For people; absent where code and field say it all. */
  message?: string;
}

/** What is known about the request being worked on; also what a log line or an audit row quotes. */
export interface RequestContext {
  requestId: string;
  traceparent?: string;
  tenantId?: string;
  principal?: Principal;
  warnings: Warning[];
  /** Of a request that came by an entrance: gets its bearer credential, which stands in place of `Authorization`. */
  credential?: () => Promise<string>;
  route?: RouteSpec;
  /** The ids every log line of this request carries; a guard adds the tenant's. */
  logIds?: LogContext;
}

const storage = new AsyncLocalStorage<RequestContext>();

/**
 * The context of the current request, or undefined outside of one (a worker, a timer, boot). `nestjs-cls` would be the same storage, opened
 * by Nest's middleware: after the Fastify hooks that already refuse and log.
 */
export function currentRequest(): RequestContext | undefined {
  return storage.getStore();
}

/**
 * The context of the current request. Outside of one it answers an empty context, so that code shared with the worker
 * needs no branch.
 */
export function requestContext(): RequestContext {
  return storage.getStore() ?? { requestId: '', warnings: [] };
}

/** Runs `fn` with `context` as the current request. Tests and the worker use it too. */
export function runInRequest<T>(context: RequestContext, fn: () => T): T {
  context.logIds ??= { request_id: context.requestId };
  return logContext.run(context.logIds, () => storage.run(context, fn));
}
