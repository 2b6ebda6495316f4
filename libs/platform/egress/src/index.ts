export { type AddressVerdict } from './addresses.js';
export { Egress, PUBLIC, PUBLIC_TLS } from './egress.js';
export { EgressRefusedError, guardedDispatcher, type GuardOptions, type ResolveHost } from './guarded-dispatcher.js';
export { checkUrl, parseAllow, type UrlRefusal, type UrlVerdict } from './rules.js';
