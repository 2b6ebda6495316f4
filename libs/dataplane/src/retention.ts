/*
 * How long what gateways record is kept. The area Routing deletes it, because gateways only add.
 */

/** Twice the default age up to which a policy accepts evidence. */
export const STATISTICS_RETENTION_SECONDS = 14 * 86_400;
/** Longer than the longest month, so that one can be added up when it is over. */
export const USAGE_RETENTION_SECONDS = 35 * 86_400;
/** An expired passport can still be looked at for a day. */
export const PASSPORT_RETENTION_SECONDS = 86_400;
