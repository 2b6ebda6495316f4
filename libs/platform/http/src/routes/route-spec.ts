import type { Type } from '@nestjs/common';
import type { Scope } from '../context/principal.js';
import type { Tag } from '../openapi/tags.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Everything the API layer knows about one operation. Written once, read by router, guard, pipes and OpenAPI. */
export interface RouteSpec {
  method: Method;
  /** Under `/api/v1`; a path that starts with `//` stands at the root and outside the OpenAPI document. */
  path: string;
  /** The least scope a token needs; `public` needs no token and is for root paths only. */
  scope: Scope | 'public';
  tag: Tag;
  operationId: string;
  summary: string;
  /** What a caller must know beyond the summary. */
  description?: string;
  /** A body that is valid by shape, which the reading view sends: the first thing that a newcomer tries. */
  example?: Record<string, unknown>;
  /** Success statuses and the DTO of each answer; a list is any of them, `null` no body, a string the media type of a stream. */
  ok: Record<number, Type<unknown> | Type<unknown>[] | string | null>;
  /** Codes of this operation's own errors; the platform's are added from the shape of the route. */
  errors?: string[];
  /** Accepts `Idempotency-Key`. */
  idempotent?: boolean;
  /** Accepts `?validate_only=true`. Elsewhere the parameter is refused, so that nobody mistakes a mutation for a rehearsal. */
  dryRun?: boolean;
  /** Accepts `If-Match`. */
  ifMatch?: boolean;
  /** A list with `limit` and `cursor`, read with `@Page()`. */
  paged?: boolean;
  /**
   * A GET that is asked again and again: its answer carries an ETag, and 304 is the answer to who has it. It is made of the answer's text
   * where the service gives none; one that it gives must change with all that the answer shows, also with what was only observed.
   */
  hot?: boolean;
  /** Token of an `ExistenceCheck`: if validation fails with 422, its 404 wins. */
  notFoundFirst?: string | symbol | Function;
  /** Bytes; the default is the server's limit. */
  maxBodyBytes?: number;
  /** Also takes `application/octet-stream`; the handler then gets the unread stream as `@Body()`. */
  streamBody?: boolean;
  /** Also answers `text/event-stream`. */
  eventStream?: boolean;
}

/** A provider named by `notFoundFirst`: raises the 404 of the resource the path names. */
export interface ExistenceCheck {
  assertExists(tenantId: string, params: Record<string, string>): Promise<void>;
}

export const API_PREFIX = '/api/v1';

/** The path a client uses for this route, with `:name` placeholders. */
export function fullPathOf(spec: Pick<RouteSpec, 'path'>): string {
  return spec.path.startsWith('//') ? spec.path.slice(1) : API_PREFIX + spec.path;
}
