export {
  isSlipwayError,
  OperationFailed,
  SlipwayError,
  type ErrorBody,
  type OwnCode,
  type SlipwayErrorCode,
} from './client/errors.js';
export { messagesOf, type MessageOptions, type StreamMessage } from './client/event-stream.js';
export type { FollowOptions } from './client/followed-events.js';
export { Listing, type Page } from './client/listing.js';
export type { WaitOptions } from './client/operation-wait.js';
export { environmentFetch } from './client/proxied-fetch.js';
export type { ProxyEnvironment } from './client/proxy-choice.js';
export { serverUrlOf, type SlipwayOptions } from './client/transport.js';
export type {
  AnswerOf,
  BodyOf,
  CallOptions,
  DeploymentEvent,
  ItemOf,
  Operation,
  OperationId,
  OperationStep,
  OptionsOf,
  PageOf,
  RehearsalOf,
  Schemas,
} from './client/types.js';
export * from './contracts.js';
export type { ErrorCode, FailureCode } from './generated/endpoints.js';
export type { LogLine } from './resources/deployments.js';
export { Slipway } from './slipway.js';
