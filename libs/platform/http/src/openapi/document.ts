import type { INestApplication } from '@nestjs/common';
import { definedFailures, EVENT_TYPES } from '@slipway/contracts';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { ErrorEnvelopeDto, WarningDto } from '../errors/error-envelope.dto.js';
import { errorSpecOf, errorSpecs } from '../errors/slipway-error.js';
import { MERGE_PATCH } from '../fields/merge-patch.js';
import { declaredRoute } from '../routes/route.decorator.js';
import { hasEtag, takesKey, type RouteSpec } from '../routes/route-spec.js';
import { offeredBy } from '../server/negotiation.js';
import { acceptAdditionalProperties, describeObjectDefaults, publishWarnings } from './schemas.js';
import { publishLinks } from './links.js';
import { publishNulls } from './nulls.js';
import { operationsOf, type Operation } from './operations.js';
import { parametersOf } from './parameters.js';
import { TAGS } from './tags.js';

/**
 * Builds the OpenAPI 3.1.0 document of everything that the application routes. The declarations of the routes add what
 * Nest cannot know from the decorators (error codes, headers, the scope).
 * @throws if a route names an error code that no table defines
 */
export function buildOpenApi(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Slipway')
    .setDescription(DESCRIPTION)
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
  publishNulls(document);
  publishWarnings(document);
  describeObjectDefaults(document);
  publishLinks(document);
  for (const { operation } of operationsOf(document)) operation.responses['default'] = ANY_FAILURE;
  return Object.assign(document, {
    'x-errors': publishedErrors(),
    'x-failures': publishedFailures(),
    'x-events': EVENT_TYPES,
  });
}

const ENVELOPE = { 'application/json': { schema: { $ref: '#/components/schemas/ErrorEnvelopeDto' } } };

/** A proxy in between, or a later version, may answer with a status that the operation does not list. */
const ANY_FAILURE = {
  description: 'Any other failure, in the same envelope. `x-errors` of this document lists every code.',
  content: ENVELOPE,
};

/** Returns every `error_code` of an operation, with its meaning and remedy. */
function publishedFailures(): Record<string, object> {
  return Object.fromEntries(definedFailures().map(({ code, ...texts }) => [code, texts]));
}

/** Returns every code of the API with its meaning and remedy, in alphabetical order. */
function publishedErrors(): Record<string, object> {
  const rows = [...errorSpecs()].sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(
    rows.map(([code, { status, category, retryable = false, message, remediation }]) => [
      code,
      { status, category, retryable, message, ...(remediation !== undefined && { remediation }) },
    ]),
  );
}

function complete(operation: Operation, route: RouteSpec): void {
  operation['x-required-scope'] = route.scope;
  operation.parameters = parametersOf(route, operation.parameters ?? []);
  completeBody(operation, route);
  for (const [status, codes] of errorsByStatus(route)) {
    operation.responses[status] = {
      description: codes.map((code) => `\`${code}\`: ${errorSpecOf(code)!.message}`).join('  \n'),
      'x-error-codes': codes,
      content: ENVELOPE,
    };
  }
  if (hasEtag(route)) operation.responses['304'] = { description: 'The response still has this ETag.' };
  if (route.eventStream) {
    const ok = operation.responses['200'] as { content?: Record<string, unknown> };
    ok.content = { ...ok.content, 'text/event-stream': { schema: { type: 'string' }, example: route.eventStream } };
  }
}

/** An absent body counts as `{}`. So every mutation publishes a body, and its absence is never the error. */
function completeBody(operation: Operation, route: RouteSpec): void {
  if (route.method === 'GET' || route.method === 'DELETE') return;
  operation.requestBody ??= { content: {} };
  const { content } = operation.requestBody;
  content['application/json'] ??= { schema: { type: 'object', additionalProperties: true }, example: {} };
  if (route.example) content['application/json'].example = route.example;
  if (route.method === 'PATCH') content[MERGE_PATCH] = structuredClone(content['application/json']);
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

/** Returns the errors that every operation of this shape can answer with. */
function impliedErrors(route: RouteSpec): string[] {
  const hasBody = route.method !== 'GET' && route.method !== 'DELETE';
  return [
    'invalid_parameter',
    'path_invalid',
    'unauthenticated',
    'token_expired',
    'scope_insufficient',
    ...(offeredBy(route).length > 0 ? ['not_acceptable'] : []),
    ...(hasBody ? ['invalid_json', 'body_too_large', 'unsupported_media_type', 'validation_failed'] : []),
    ...(route.paged ? ['validation_failed'] : []),
    ...(takesKey(route) ? ['idempotency_key_invalid', 'idempotency_key_reused', 'idempotency_in_progress'] : []),
    ...(route.conditional ? ['precondition_failed'] : []),
    ...(route.method === 'GET' ? [] : ['condition_not_supported']),
    // The platform of the areas defines it: everything that a mutation stores has a quota.
    ...(route.method !== 'GET' && errorSpecOf('quota_exceeded') ? ['quota_exceeded'] : []),
    'rate_limited',
    'internal',
    'unavailable',
  ];
}

/** Rules for every operation: the first text that a reader of the document sees. */
const DESCRIPTION = `Control plane for inference deployments: revisions, routing, optimization policy, plans, sandboxes and managed model APIs.

- **Sign in**: \`Authorization: Bearer <token>\` on every operation. A local stack stores the first token in \`.slipway/bootstrap-token\`. On the page \`/docs\`, press *Authorize* and paste the token; the browser keeps it until you log out there.
- **Scopes** nest: admin includes operator, operator includes viewer. \`x-required-scope\` of an operation is the lowest scope that it needs. Resources of other tenants return 404.
- **Long-running operations**: the API returns 202 with an operation, which continues without the client. Follow it at \`GET /api/v1/operations/{id}\` or through its events.
- **Retries**: send an \`Idempotency-Key\` where it is accepted. A retry with the same key returns the result of the first request, without its secrets. The same key with another request returns 422 \`idempotency_key_reused\`. Mutations that do not accept a key warn with \`idempotency_key_ignored\`.
- **Rehearsal**: \`?validate_only=true\`, where it is accepted, runs every check, writes nothing, and returns what would happen.
- **Errors** are \`{"error": {"code", "message", "category", "remediation", "request_id", "retryable"}}\`. Branch on \`code\`; \`x-errors\` of this document lists every code with its meaning and remedy. 400 means malformed or mistyped, 422 means that the request breaks a rule; \`details\` names the fields.
- **Null**: a field of a body that may be omitted may also be null, which means the same: on creation its default applies. In a \`PATCH\`, null resets a field to its default, and omission keeps it.
- **Unknown fields** of a body are ignored and listed in \`warnings\` of the response. With \`?strict=true\`, which every request with a body accepts, they are errors: 422 \`validation_failed\`, and \`details\` lists each of them with the code \`unknown_field\`.
- **Pages**: lists return \`{"data": [...], "next_cursor"}\`. Send \`next_cursor\` as \`cursor\` to get the next page; it is null on the last page.
- **Concurrent changes**: send the \`ETag\` you read as \`If-Match\` where it is accepted; if the resource has changed since, the response is 412. \`If-None-Match: *\` creates and never replaces. An operation that cannot check a condition returns 400 \`condition_not_supported\` and changes nothing.
- **Media types**: responses are JSON unless the operation lists another type. An \`Accept\` header that excludes all of them is 406 \`not_acceptable\`, and nothing is done. Errors are always JSON. Bodies are JSON in UTF-8, not compressed; \`Accept\` and \`Accept-Encoding\` of a 415 list what the operation reads.
- **Methods**: \`HEAD\` works on every \`GET\`. \`OPTIONS\` needs no token and returns the methods of a path in \`Allow\`, and so does the 405 of any other method.
- **Polling**: every JSON response to a GET carries an \`ETag\`. Send it as \`If-None-Match\`; if the response is unchanged, it is 304 without a body.
- **Unknown query parameters** are listed in \`warnings\` of the response to a GET; other methods refuse them with 400 and change nothing.
- **Events** are CloudEvents. \`Accept: text/event-stream\` on \`/deployments/{name}/events\` and \`/operations/{id}/events\` streams them; \`Last-Event-ID\` resumes after the last event that the client received.
- **Inference** is served by the gateway, not by this API: under \`/v1\` on its own port, with the same tokens.
`;
