import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';
import { ErrorEnvelopeDto, WarningDto } from '../errors/error-envelope.dto.js';
import { errorSpecOf } from '../errors/slipway-error.js';
import { declaredRoute } from '../routes/route.decorator.js';
import type { RouteSpec } from '../routes/route-spec.js';
import { acceptAdditionalProperties, publishWarnings } from './schemas.js';
import { operationsOf, type Operation } from './operations.js';
import { parametersOf } from './parameters.js';
import { TAGS } from './tags.js';

/**
 * The OpenAPI 3.1.0 document of everything the application routes. What Nest cannot know from the decorators (error codes,
 * headers, the scope) is added from the routes' own declarations.
 * @throws if a route names an error code that no table defines
 */
export function buildOpenApi(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Slipway')
    .setDescription(
      'Control plane for inference deployments: revisions, routing, optimization policy, plans, sandboxes and managed model APIs.',
    )
    .setVersion('1.0.0')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/', 'This service')
    .addBearerAuth(
      { type: 'http', scheme: 'bearer', description: 'An API token (`slw_...`) or the JWT of a granted identity.' },
      'bearer',
    );
  for (const [name, description] of Object.entries(TAGS)) builder.addTag(name, description);
  const document = SwaggerModule.createDocument(app, builder.build(), {
    extraModels: [ErrorEnvelopeDto, WarningDto],
    autoTagControllers: false,
  });
  for (const { operation } of operationsOf(document)) {
    const route = declaredRoute(operation.operationId);
    if (!route) throw new Error(`Operation ${operation.operationId} has no @Route`);
    complete(operation, route);
  }
  acceptAdditionalProperties(document);
  publishWarnings(document);
  return document;
}

/** Serves the document at `/openapi.json` and its reading view at `/docs`, both without a token. Call before `listen`. */
export function serveOpenApi(app: INestApplication, options: { docs?: boolean } = {}): OpenAPIObject {
  const document = buildOpenApi(app);
  const text = JSON.stringify(document);
  const instance = app.getHttpAdapter().getInstance() as FastifyInstance;
  instance.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(text));
  if (options.docs ?? true) SwaggerModule.setup('docs', app, document, { raw: false });
  return document;
}

function complete(operation: Operation, route: RouteSpec): void {
  operation['x-required-scope'] = route.scope;
  operation.parameters = parametersOf(route, operation.parameters ?? []);
  completeBody(operation, route);
  for (const [status, codes] of errorsByStatus(route)) {
    operation.responses[status] = {
      description: codes.map((code) => `\`${code}\`: ${errorSpecOf(code)!.message}`).join('  \n'),
      'x-error-codes': codes,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorEnvelopeDto' } } },
    };
  }
  if (route.eventStream) {
    const ok = operation.responses['200'] as { content?: Record<string, unknown> };
    ok.content = { ...ok.content, 'text/event-stream': { schema: { type: 'string' } } };
  }
}

/** An absent body counts as `{}`, so every mutation publishes one, and its absence is never the error. */
function completeBody(operation: Operation, route: RouteSpec): void {
  if (route.method === 'GET' || route.method === 'DELETE') return;
  operation.requestBody ??= { content: {} };
  const { content } = operation.requestBody;
  content['application/json'] ??= { schema: { type: 'object', additionalProperties: true } };
  if (route.streamBody) content['application/octet-stream'] = { schema: { type: 'string', format: 'binary' } };
}

function errorsByStatus(route: RouteSpec): Map<string, string[]> {
  const codes = new Set([...impliedErrors(route), ...(route.errors ?? [])]);
  const byStatus = new Map<string, string[]>();
  for (const code of codes) {
    const spec = errorSpecOf(code);
    if (!spec) throw new Error(`${route.operationId} names the error ${code}, which no table defines`);
    const status = String(spec.status);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}

/** What every operation of this shape can answer. */
function impliedErrors(route: RouteSpec): string[] {
  const hasBody = route.method !== 'GET' && route.method !== 'DELETE';
  return [
    'invalid_parameter',
    'path_invalid',
    'unauthenticated',
    'token_expired',
    'scope_insufficient',
    ...(hasBody ? ['invalid_json', 'body_too_large', 'unsupported_media_type', 'validation_failed'] : []),
    ...(route.paged ? ['validation_failed'] : []),
    ...(route.idempotent ? ['idempotency_key_invalid', 'idempotency_key_reused'] : []),
    ...(route.ifMatch ? ['precondition_failed'] : []),
    'rate_limited',
    'internal',
    'unavailable',
  ];
}
