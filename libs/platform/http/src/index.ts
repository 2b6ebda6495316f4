export {
  type Category,
  type ErrorDetail,
  type ErrorSpec,
  type FieldIssue,
  type ResourceUse,
  defineErrors,
  MOST_USES_SHOWN,
  usedBy,
  SlipwayError,
} from './errors/slipway-error.js';
export { errors } from './errors/platform.errors.js';
export {
  requestContext,
  runInRequest,
  type EnteredCredential,
  type IdempotencyClaim,
  type RequestContext,
  type Warning,
} from './context/request-context.js';
export type { AccessCheck, Principal, Scope } from './context/principal.js';
export { defaultStatusOf, fullPathOf, type ExistenceCheck, type Method, type RouteSpec } from './routes/route-spec.js';
export { EarlierAnswer, KeyedRequest } from './routes/keyed-request.js';
export { declaredRoute, Route } from './routes/route.decorator.js';
export {
  CurrentPrincipal,
  Idempotency,
  Conditions,
  IfNoneMatch,
  Page,
  ValidateOnly,
  fingerprintOf,
} from './routes/parameters.js';
export * from './fields/field.decorators.js';
export {
  addUnknownRemovals,
  inUtc,
  isStorable,
  newFindings,
  type Findings,
  readObject,
  reportUnknown,
  unknownIssues,
} from './fields/read-object.js';
export { mergePatch, patchedFields } from './fields/merge-patch.js';
export { RequestCoalescer } from './answers/request-coalescer.js';
export { RawJson, rawJson, Reply, reply, jsonPatch, rehearsal, RehearsalDto } from './answers/reply.js';
export { ActorDto, OwnerDto } from './answers/actor.dto.js';
export { MoneyDto } from './answers/money.dto.js';
export { assertPreconditions, etagOf, isUnchanged, type Preconditions } from './answers/etag.js';
export {
  encodeCursor,
  firstRows,
  pageOf,
  rawPage,
  type CursorKey,
  type CursorPart,
  type PageOf,
  type PageRequest,
} from './answers/page.js';
export { SlipwayHttpAdapter, type GuardHook, type HttpServerOptions } from './server/http-adapter.js';
export type { BrowserPages } from './server/browser-pages.js';
export { prefersEvents } from './server/negotiation.js';
export { keepOpen, noteConnectionUse } from './server/request-shares.js';
export { type Entrance, routeOf, type SlipwayReply, type SlipwayRequest } from './server/slipway-request.js';
export { type ErrorEnvelope } from './server/error-answer.js';
export { HttpModule } from './http.module.js';
export { serveOpenApi } from './openapi/serve.js';
export { operationsOf, type Operation } from './openapi/operations.js';
export { type Tag } from './openapi/tags.js';
