export { isOfThisMachine, type AddressReach } from './addresses.js';
export { Egress, PUBLIC, PUBLIC_TLS } from './egress.js';
export {
  EgressRefusedError,
  guardedDispatcher,
  operatorFetch,
  resolveWithSystem,
  type GuardOptions,
  type ResolveHost,
} from './guarded-dispatcher.js';
export type { GuardedPost, PostAnswer, PostOptions } from './guarded-post.js';
export { ProxyRefusedError, type OutboundProxy } from './outbound-proxy.js';
export { checkUrl, outsideOf, parseAllow, type UrlRefusal, type UrlCheckResult } from './rules.js';
