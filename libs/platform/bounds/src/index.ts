export { AddressRate, FailedAttempts, type FailureLimits } from './address-rate.js';
export { AttemptQueue, LOOK_UPS, type CredentialAttempt, type AttemptBounds } from './attempt-queue.js';
export { ByteBudget, type ByteBounds, type HeldBytes, RateLimiter, type RateDecision } from './budgets.js';
export { clientAddress, proxyList, type ProxyList } from './client-address.js';
export { collect, CollectedBytes } from './collected-bytes.js';
export { FairShare, type ShareBounds, type ShareUse } from './fair-share.js';
export { ProxyHint } from './proxy-hint.js';
export {
  jsonKeyOf,
  JsonRefused,
  JsonScanner,
  type JsonBounds,
  type JsonFault,
  type JsonMember,
} from './json-scanner.js';
