export { isOfThisMachine, type AddressReach } from './addresses.js';
export { Egress, PUBLIC, PUBLIC_TLS } from './egress.js';
export {
  EgressRefusedError,
  guardedDispatcher,
  operatorFetch,
  type GuardOptions,
  type ResolveHost,
} from './guarded-dispatcher.js';
export { ProxyRefusedError, type OutboundProxy } from './outbound-proxy.js';
export { checkUrl, outsideOf, parseAllow, type UrlRefusal, type UrlCheckResult } from './rules.js';
