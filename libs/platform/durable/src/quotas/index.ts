export { holdQuota, lockQuota, quotasOfTenant, type HeldQuota } from './hold-quota.js';
export { quotaErrors, quotaExceeded } from './quota.errors.js';
