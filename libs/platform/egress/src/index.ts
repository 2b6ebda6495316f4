export { isOfThisMachine, type AddressVerdict } from './addresses.js';
export { Egress, PUBLIC, PUBLIC_TLS } from './egress.js';
export { EgressRefusedError, guardedDispatcher, type GuardOptions, type ResolveHost } from './guarded-dispatcher.js';
export { checkUrl, outsideOf, parseAllow, type UrlRefusal, type UrlVerdict } from './rules.js';
