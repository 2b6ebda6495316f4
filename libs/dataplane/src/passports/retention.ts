/** An expired passport can still be looked at for a day. The area Routing deletes it then, because gateways only add. */
export const PASSPORT_RETENTION_SECONDS = 86_400;
