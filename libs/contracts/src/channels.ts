/*
 * The NOTIFY channels of Postgres. A notification only triggers a read: listeners read the tables, and also poll them.
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

/** A client requests the output of an instance. The payload is the target's name. */
export const LOGS_ASKED_CHANNEL = 'slipway_logs_asked';

/** There is more output for a reading. The payload is its id. */
export const LOGS_READ_CHANNEL = 'slipway_logs_read';

/** The workloads that should run on a target have changed. The payload is the target's name. */
export const WORKLOADS_CHANNEL = 'slipway_workloads';
