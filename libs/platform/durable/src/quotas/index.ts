export { reserveQuota, lockQuota, quotasOfTenant, type QuotaReservation } from './quota-reservation.js';
export { quotaErrors, quotaExceeded } from './quota.errors.js';
export { StoredCounts, StoredQuota } from './stored-quota.js';
