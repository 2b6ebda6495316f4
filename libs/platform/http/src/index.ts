export {
  type Category,
  type ErrorDetail,
  type ErrorSpec,
  type FieldIssue,
  defineErrors,
  errorSpecOf,
  SlipwayError,
} from './errors/slipway-error.js';
export { errors } from './errors/platform.errors.js';
export { isUnreachable, toSlipwayError } from './errors/failure.js';
export { ErrorBodyDto, ErrorEnvelopeDto, FieldIssueDto, WarningDto } from './errors/error-envelope.dto.js';
export {
  currentRequest,
  requestContext,
  runInRequest,
  type Principal,
  type RequestContext,
  type Scope,
  type Warning,
} from './context/request-context.js';
export { API_PREFIX, fullPathOf, type ExistenceCheck, type Method, type RouteSpec } from './routes/route-spec.js';
export { declaredRoute, Route } from './routes/route.decorator.js';
export {
  CurrentPrincipal,
  Idempotency,
  IfMatch,
  IfNoneMatch,
  Page,
  ValidateOnly,
  type IdempotencyClaim,
} from './routes/parameters.js';
export { concretePathOf, fingerprintOf, parseIdempotencyKey } from './routes/idempotency-key.js';
export * from './fields/field.decorators.js';
export { isPlainObject, isStorable, isTimestamp } from './fields/field-readers.js';
export { fieldsOf, newFindings, readObject, type Findings } from './fields/field-table.js';
export { RawJson, rawJson, Reply, reply } from './answers/reply.js';
export { rehearsal, RehearsalDto } from './answers/rehearsal.js';
export { assertIfMatch, etagOf, isUnchanged } from './answers/etag.js';
export {
  decodeCursor,
  DEFAULT_LIMIT,
  encodeCursor,
  MAX_LIMIT,
  pageOf,
  type CursorKey,
  type CursorPart,
  type PageOf,
  type PageRequest,
} from './answers/page.js';
export { SlipwayHttpAdapter, type HttpServerOptions, type RequestGuard } from './server/http-adapter.js';
export { routeOf, type SlipwayReply, type SlipwayRequest } from './server/slipway-request.js';
export { envelopeOf, errorHeaders, sendError, type ErrorEnvelope } from './server/error-answer.js';
export { HttpModule } from './http.module.js';
export { buildOpenApi, serveOpenApi } from './openapi/document.js';
export { operationsOf, type Operation } from './openapi/operations.js';
export { TAGS, type Tag } from './openapi/tags.js';
