export { reserveQuota, lockQuota, quotasOfTenant, type QuotaReservation } from './quota-reservation.js';
export { quotaErrors, quotaExceeded } from './quota.errors.js';
