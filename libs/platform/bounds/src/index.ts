export { AddressRate } from './address-rate.js';
export { ByteBudget, type ByteBounds, type HeldBytes, RateLimiter, type RateDecision } from './budgets.js';
export { clientAddress, proxyList, type ProxyList } from './client-address.js';
export {
  jsonKeyOf,
  JsonRefused,
  JsonScanner,
  type JsonBounds,
  type JsonFault,
  type JsonMember,
} from './json-scanner.js';
