import type { Type } from '@nestjs/common';
import type { Scope } from '../context/principal.js';
import type { Tag } from '../openapi/tags.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Everything the API layer knows about one operation. It is written once, and the router, guard, pipes and OpenAPI read
 * it.
 */
export interface RouteSpec {
  method: Method;
  /** Under `/api/v1`. A path that starts with `//` is at the root, and not in the OpenAPI document. */
  path: string;
  /** The lowest scope that a token needs. `public` needs no token, and is for root paths only. */
  scope: Scope | 'public';
  tag: Tag;
  operationId: string;
  summary: string;
  /** Information that a caller needs beyond the summary. */
  description?: string;
  /** A body with a valid shape. The reading view sends it, so it is the first thing that a newcomer tries. */
  example?: Record<string, unknown>;
  /**
   * Success statuses and the DTO of each answer. A list means any of its DTOs, `null` no body, and a string the media
   * type of a stream.
   */
  ok: Record<number, Type<unknown> | Type<unknown>[] | string | null>;
  /** Codes of this operation's own errors. The shape of the route adds those of the platform. */
  errors?: string[];
  /**
   * Whether it accepts `Idempotency-Key`: by default every POST under `/api/v1` does. Other mutations that get a key warn
   * that it had no effect.
   */
  idempotent?: boolean;
  /**
   * Fields of the answer that hold a secret, which is shown once. The answer that is stored with an `Idempotency-Key` has
   * null in their place, so their type must allow it.
   */
  secrets?: readonly string[];
  /**
   * Accepts `?validate_only=true`. Other routes refuse the parameter, so that no client mistakes a mutation for a
   * rehearsal.
   */
  dryRun?: boolean;
  /**
   * Accepts `If-Match` and `If-None-Match`, read with `@Conditions()`. Other mutations refuse them, so that no client
   * overwrites what it wanted to protect.
   */
  conditional?: boolean;
  /** A list with `limit` and `cursor`, read with `@Page()`. */
  paged?: boolean;
  /** A list by the time of creation, newest first: `@Page()` also reads `order`, `since` and `until`. */
  byTime?: boolean;
  /** The DTO of query parameters that the handler reads by hand. Those of its `@Query()` are known without it. */
  query?: Type<unknown>;
  /** Token of an `ExistenceCheck`. If validation fails with 422, its 404 takes precedence. */
  notFoundFirst?: string | symbol | Function;
  /** Bytes; the default is the server's limit. */
  maxBodyBytes?: number;
  /** Also accepts `application/octet-stream`. The handler then gets the unread stream as `@Body()`. */
  streamBody?: boolean;
  /** Media types of further answers, which a parameter chooses: the path of a file, for example. */
  also?: readonly string[];
  /** An example of the stream, if it also answers with `text/event-stream`. */
  eventStream?: string;
}

/** A provider named by `notFoundFirst`. It throws the 404 of the resource that the path names. */
export interface ExistenceCheck {
  assertExists(tenantId: string, params: Record<string, string>): Promise<void>;
}

export const API_PREFIX = '/api/v1';

/** Returns the path that a client uses for this route, with `:name` placeholders. */
export function fullPathOf(spec: Pick<RouteSpec, 'path'>): string {
  return isOfApi(spec) ? API_PREFIX + spec.path : spec.path.slice(1);
}

/** Whether the route belongs to the API. Routes at the root serve probes, browsers and providers of identities. */
export function isOfApi({ path }: Pick<RouteSpec, 'path'>): boolean {
  return !path.startsWith('//');
}

/** Whether the operation accepts `Idempotency-Key`. */
export function takesKey(spec: Pick<RouteSpec, 'method' | 'path' | 'idempotent'>): boolean {
  return spec.idempotent ?? (spec.method === 'POST' && isOfApi(spec));
}

/** Returns the status of a plain value. A service whose route has several success statuses answers with `reply`. */
export function defaultStatusOf({ ok }: Pick<RouteSpec, 'ok'>): number {
  return Math.min(...Object.keys(ok).map(Number));
}

/**
 * Whether answers of the route have an ETag: those with a JSON object as their only content. If the service sets none,
 * the text of the answer makes it. An ETag of the service must change with everything that the answer shows, including
 * values that were only observed.
 */
export function hasEtag({ method, ok }: Pick<RouteSpec, 'method' | 'ok'>): boolean {
  return method === 'GET' && typeof ok[200] !== 'string' && (ok[200] ?? null) !== null;
}
