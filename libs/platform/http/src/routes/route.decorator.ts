import { applyDecorators, Body, HttpCode, Query, RequestMapping, RequestMethod, UsePipes } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { RouteConfig } from '@nestjs/platform-fastify';
import {
  ApiBearerAuth,
  ApiExcludeEndpoint,
  ApiExtraModels,
  ApiOperation,
  ApiResponse,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { fieldsOf } from '../fields/read-object.js';
import { declaredParametersOf } from '../openapi/parameters.js';
import type { RouteConfig as Config } from '../server/slipway-request.js';
import { obeyKey } from './keyed-request.js';
import { RequestReader } from './parameters.js';
import { defaultStatusOf, fullPathOf, isOfApi, takesKey, type RouteSpec } from './route-spec.js';

const reader = new RequestReader();
const declared = new Map<string, RouteSpec>();
const read = new WeakMap<RouteSpec, ReadParameters>();

/** The parts of a request that the handler of a route reads. */
interface ReadParameters {
  hasBody: boolean;
  /** DTOs of `@Query()`. */
  queryTypes: readonly Function[];
  /** Names of `@Query('name')`. */
  queryNames: readonly string[];
}

/** Stores the declaration of a route on its handler. */
export const RouteDeclaration = Reflector.createDecorator<RouteSpec>();

/** The one decorator of a handler: routes it, guards it, validates its input and publishes it. */
export function Route(spec: RouteSpec): MethodDecorator {
  const path = fullPathOf(spec);
  if (spec.scope === 'public' && isOfApi(spec))
    throw new Error(`${spec.operationId}: every path under /api/v1 needs a scope`);
  declare(spec);
  return applyDecorators(
    // First, because the others store their metadata on the handler that Nest calls.
    ...(takesKey(spec) ? [obeyKey] : []),
    RequestMapping({ path, method: RequestMethod[spec.method] }),
    HttpCode(defaultStatusOf(spec)),
    RouteConfig({ slipway: spec } satisfies Config),
    RouteDeclaration(spec),
    UsePipes(reader),
    noteParameters(spec),
    ...(isOfApi(spec) ? published(spec) : [ApiExcludeEndpoint()]),
  );
}

/** Returns the route with this operation id, for building the OpenAPI document. */
export function declaredRoute(operationId: string): RouteSpec | undefined {
  return declared.get(operationId);
}

/** Whether the handler of a route reads the body of the request. */
export function readsBody(spec: RouteSpec): boolean {
  return read.get(spec)?.hasBody === true;
}

const known = new WeakMap<RouteSpec, ReadonlySet<string>>();

/** Returns the names of all query parameters that have a meaning for a route, other than `strict`. */
export function queryParametersOf(spec: RouteSpec): ReadonlySet<string> {
  const found = known.get(spec) ?? new Set(queryNamesOf(spec));
  known.set(spec, found);
  return found;
}

function queryNamesOf(spec: RouteSpec): string[] {
  const { queryTypes = [], queryNames = [] } = read.get(spec) ?? {};
  const types = spec.query ? [...queryTypes, spec.query] : queryTypes;
  return [
    ...types.flatMap((type) => [...fieldsOf(type).keys()]),
    ...queryNames,
    ...declaredParametersOf(spec)
      .filter((parameter) => parameter.in === 'query')
      .map(({ name }) => name),
  ];
}

/** Parameters are decorated before their method, so their metadata exists by now. */
function noteParameters(spec: RouteSpec): MethodDecorator {
  return (target, name) => {
    const parameters = (Reflect.getMetadata(PARAMETERS.key, target.constructor, name) ?? {}) as Record<
      string,
      { index: number; data?: unknown }
    >;
    const types = (Reflect.getMetadata('design:paramtypes', target, name) ?? []) as Function[];
    const queries = Object.entries(parameters).filter(([key]) => key.startsWith(PARAMETERS.query));
    read.set(spec, {
      hasBody: Object.keys(parameters).some((key) => key.startsWith(PARAMETERS.body)),
      queryTypes: queries.flatMap(([, { index, data }]) => (data === undefined ? [types[index] ?? Object] : [])),
      queryNames: queries.flatMap(([, { data }]) => (typeof data === 'string' ? [data] : [])),
    });
  };
}

/**
 * The metadata of a handler's parameters, and the prefixes of its body and query there. Nest publishes no names for
 * them, so they are read from samples.
 */
const PARAMETERS = { key: metadataOf(Body()).key, body: metadataOf(Body()).prefix, query: metadataOf(Query()).prefix };

function metadataOf(decorate: ParameterDecorator): { key: unknown; prefix: string } {
  class Sample {}
  decorate(Sample.prototype, 'handler', 0);
  const [key] = Reflect.getMetadataKeys(Sample, 'handler');
  const [name] = Object.keys(Reflect.getMetadata(key, Sample, 'handler') as object);
  return { key, prefix: name!.slice(0, name!.indexOf(':') + 1) };
}

function declare(spec: RouteSpec): void {
  const other = declared.get(spec.operationId);
  if (other && (other.path !== spec.path || other.method !== spec.method)) {
    throw new Error(
      `operationId ${spec.operationId} is used by ${other.method} ${other.path} and by ${spec.method} ${spec.path}`,
    );
  }
  declared.set(spec.operationId, spec);
}

function published(spec: RouteSpec): MethodDecorator[] {
  return [
    ApiTags(spec.tag),
    ApiOperation({ operationId: spec.operationId, summary: spec.summary, description: spec.description }),
    ApiBearerAuth('bearer'),
    ...Object.entries(spec.ok).flatMap(([status, type]) => publishedAnswer(Number(status), type)),
  ];
}

function publishedAnswer(status: number, type: RouteSpec['ok'][number]): MethodDecorator[] {
  const description = DESCRIPTIONS[status] ?? 'Success';
  if (type === null) return [ApiResponse({ status, description })];
  if (typeof type === 'string') {
    return [
      ApiResponse({ status, description, content: { [type]: { schema: { type: 'string', format: 'binary' } } } }),
    ];
  }
  if (!Array.isArray(type)) return [ApiResponse({ status, description, type })];
  const schema = { anyOf: type.map((one) => ({ $ref: getSchemaPath(one) })) };
  return [ApiExtraModels(...type), ApiResponse({ status, description, schema })];
}

const DESCRIPTIONS: Record<number, string> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted; the work continues after this response.',
  204: 'Done; no body.',
  304: 'Unchanged since the ETag in If-None-Match.',
};
