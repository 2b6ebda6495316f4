/*
 * The NOTIFY channels of Postgres. A notification only says "look": whoever listens reads the tables, and polls them besides.
 */

/** There are rows in the outbox. No payload. */
export const OUTBOX_CHANNEL = 'slipway_outbox';

/** A stream has new events. The payload is the stream's name. */
export const EVENTS_CHANNEL = 'slipway_events';

/** A subscription has events in its inbox. The payload is the subscription's name. */
export const INBOX_CHANNEL = 'slipway_inbox';

/** A token was made, changed or revoked. The payload is the token's id, or empty for "any". */
export const TOKENS_CHANNEL = 'slipway_tokens';

/** Something was published to the gateways. The payload is `<kind>:<id>`. */
export const DATAPLANE_CHANNEL = 'slipway_dataplane';

/** Somebody asks to read the output of an instance. The payload is the target's name. */
export const LOGS_ASKED_CHANNEL = 'slipway_logs_asked';

/** There is more of a reading. The payload is its id. */
export const LOGS_READ_CHANNEL = 'slipway_logs_read';

/** What should run on a target has changed. The payload is the target's name. */
export const WORKLOADS_CHANNEL = 'slipway_workloads';
