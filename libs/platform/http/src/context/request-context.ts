import { AsyncLocalStorage } from 'node:async_hooks';
import { logContext, type LogContext } from '@slipway/platform-observability';
import type { ShareUse } from '@slipway/platform-bounds';
import type { RouteSpec } from '../routes/route-spec.js';
import type { AccessCheck, Principal } from './principal.js';

/**
 * A hint to the client about a request that was accepted. `unknown_field`: the API does not know the field and dropped
 * it; `unknown_parameter`: the same of a query parameter. `no_route`: the result of the request will get no traffic.
 * `idempotency_key_ignored`: the operation does not obey the key; `secret_omitted`: a repeated answer lacks a secret.
 */
export interface Warning {
  code: 'unknown_field' | 'unknown_parameter' | 'no_route' | 'idempotency_key_ignored' | 'secret_omitted';
  /** Dotted path of the field, or the name of the parameter or header. */
  field: string;
  /** For people; absent if code and field say everything. */
  message?: string;
}

/** The credential that an entrance puts in place of a request's own. */
export interface EnteredCredential {
  bearer: string;
  /** The facts that the access rests on in addition to the bearer: the session. */
  access: readonly AccessCheck[];
}

/** A request's claim to be the same as an earlier one: unique on (tenant, method, path, key). */
export interface IdempotencyClaim {
  method: string;
  /** The concrete path without query, with one encoding for each segment. */
  path: string;
  key: string;
  /** SHA-256, hex, over the sorted query and the canonical JSON body. Distinguishes a retry from a reuse of the key. */
  fingerprint: string;
}

/** The `Idempotency-Key` of a request. */
export interface RequestKey {
  /** Returns the claim to its first caller, who then obeys the key. */
  take(): IdempotencyClaim | undefined;
  /** Returns the earlier answer, or that of the handler. */
  answer(handle: () => unknown): Promise<unknown>;
}

/** Everything known about the current request; log lines and audit rows quote it. */
export interface RequestContext {
  requestId: string;
  traceparent?: string;
  tenantId?: string;
  principal?: Principal;
  warnings: Warning[];
  /** Whether the client requested with `?strict=true` that unknown fields and parameters are errors. */
  isStrict?: boolean;
  /** If the request came through an entrance: returns its bearer credential, which replaces `Authorization`. */
  credential?: () => Promise<EnteredCredential>;
  route?: RouteSpec;
  /** Its `Idempotency-Key`, if its operation accepts one. */
  keyed?: RequestKey;
  /** The order of the list that it requests; the order of a list without a choice is undefined. */
  listOrder?: 'asc' | 'desc';
  /** The use of its tenant's share, from the body's arrival until the answer is made. */
  share?: ShareUse;
  /** The cost of its body and of its database connections so far, in units of its tenant's share. */
  spentUnits?: number;
  /** Runs a further part of an answer that is already being sent, when its tenant's share allows it. */
  inShare?: <T>(work: () => Promise<T>) => Promise<T>;
  /** The resource that it changes, unique over all tenants; undefined for reads and if its path names no resource. */
  changedResource?: string;
  /** The ids in every log line of this request; a guard adds the id of the tenant. */
  logIds?: LogContext;
}

const storage = new AsyncLocalStorage<RequestContext>();

/**
 * Returns the context of the current request, or undefined outside of a request (a worker, a timer, boot). `nestjs-cls`
 * would open the same storage in Nest's middleware: too late for the Fastify hooks that refuse and log.
 */
export function currentRequest(): RequestContext | undefined {
  return storage.getStore();
}

/**
 * Returns the context of the current request, or an empty one outside of a request, so that code shared with the worker
 * needs no branch.
 */
export function requestContext(): RequestContext {
  return storage.getStore() ?? { requestId: '', warnings: [] };
}

/** Runs `fn` with `context` as the current request. Tests and the worker also use it. */
export function runInRequest<T>(context: RequestContext, fn: () => T): T {
  context.logIds ??= { request_id: context.requestId };
  return logContext.run(context.logIds, () => storage.run(context, fn));
}
