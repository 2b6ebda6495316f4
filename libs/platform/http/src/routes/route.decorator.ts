import { applyDecorators, Body, HttpCode, RequestMapping, RequestMethod, UsePipes } from '@nestjs/common';
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
import type { RouteConfig as Config } from '../server/slipway-request.js';
import { RequestReader } from './parameters.js';
import { fullPathOf, type RouteSpec } from './route-spec.js';

const reader = new RequestReader();
const declared = new Map<string, RouteSpec>();
const withBody = new WeakSet<RouteSpec>();

/** Stores the declaration of a route on its handler. */
export const RouteDeclaration = Reflector.createDecorator<RouteSpec>();

/** The one decorator of a handler: routes it, guards it, validates its input and publishes it. */
export function Route(spec: RouteSpec): MethodDecorator {
  const path = fullPathOf(spec);
  const isRoot = spec.path.startsWith('//');
  if (spec.scope === 'public' && !isRoot)
    throw new Error(`${spec.operationId}: every path under /api/v1 needs a scope`);
  declare(spec);
  return applyDecorators(
    RequestMapping({ path, method: RequestMethod[spec.method] }),
    HttpCode(defaultStatusOf(spec)),
    RouteConfig({ slipway: spec } satisfies Config),
    RouteDeclaration(spec),
    UsePipes(reader),
    noteBody(spec),
    ...(isRoot ? [ApiExcludeEndpoint()] : published(spec)),
  );
}

/** Returns the route with this operation id, for building the OpenAPI document. */
export function declaredRoute(operationId: string): RouteSpec | undefined {
  return declared.get(operationId);
}

/** Whether the handler of a route reads the body of the request. */
export function readsBody(spec: RouteSpec): boolean {
  return withBody.has(spec);
}

/** Parameters are decorated before their method, so their metadata exists by now. */
function noteBody(spec: RouteSpec): MethodDecorator {
  return (target, name) => {
    const parameters = (Reflect.getMetadata(PARAMETERS.key, target.constructor, name) ?? {}) as object;
    if (Object.keys(parameters).some((one) => one.startsWith(PARAMETERS.body))) withBody.add(spec);
  };
}

/**
 * The metadata of a handler's parameters, and the prefix of its body there. Nest publishes no names for them, so they
 * are read from a sample.
 */
const PARAMETERS = ((): { key: unknown; body: string } => {
  class Sample {}
  Body()(Sample.prototype, 'handler', 0);
  const [key] = Reflect.getMetadataKeys(Sample, 'handler');
  const [body] = Object.keys(Reflect.getMetadata(key, Sample, 'handler') as object);
  return { key, body: body!.slice(0, body!.indexOf(':') + 1) };
})();

function declare(spec: RouteSpec): void {
  const known = declared.get(spec.operationId);
  if (known && (known.path !== spec.path || known.method !== spec.method)) {
    throw new Error(
      `operationId ${spec.operationId} is used by ${known.method} ${known.path} and by ${spec.method} ${spec.path}`,
    );
  }
  declared.set(spec.operationId, spec);
}

/** Returns the status of a plain value. A service whose route has several success statuses answers with `reply`. */
function defaultStatusOf(spec: RouteSpec): number {
  return Math.min(...Object.keys(spec.ok).map(Number));
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
