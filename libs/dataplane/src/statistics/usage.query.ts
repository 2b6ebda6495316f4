import { deletionOf } from './old-windows.js';
import type { NamedSql, QueryClient } from '../sql.js';

/** Requests by the outcome that their clients saw; a retried request counts once, as it ended. */
export interface RequestCounts {
  ok: number;
  client_error: number;
  /** Answered 408, 425 or 429 by the engine. */
  overloaded: number;
  /** A failed answer, also inside of a 200, or refused because no instance could be reached. */
  server_error: number;
  /** The client left before the first byte (before the end, if not streamed) after 2 s or more. */
  abandoned: number;
  /** The client left earlier, or after content. */
  cancelled: number;
}

/** One row to store: requests that ended on one gateway within ten seconds, for one token, instance and name. */
export interface UsageWindow extends RequestCounts {
  gateway_id: string;
  /** RFC 3339, whole seconds. */
  window_start: string;
  /** Position among the rows of this gateway and window; the three together identify a row. */
  row_number: number;
  /** Tenant of the token: the caller, and not the owner of what answered. */
  tenant_id: string;
  /** Null for requests beyond the tokens, instances and slugs that a window distinguishes. */
  token_id: string | null;
  revision_id: string;
  /** The instance of the last attempt; null if there was none. */
  instance_id: string | null;
  /** The published product that was called; null for a deployment of the tenant's own. */
  slug: string | null;
  /** Attempts that failed upstream, even if another attempt hid them from the client. */
  upstream_faults: number;
  tokens_in: number;
  tokens_out: number;
  /** Sum over the requests, in milliseconds from the draw of a revision to the end of the answer. */
  duration_ms: number;
  attempts: number;
  /** Requests in flight on the instance, including the attempt: mean over each attempt, then over all attempts. */
  mean_in_flight: number;
}

/** As with request statistics, a row is written once, so that a batch with an uncertain commit can be sent again. */
const WRITE_USAGE: NamedSql = {
  name: 'dataplane_write_usage',
  text: `
    insert into dataplane_request_usage (gateway_id, window_start, row_number, tenant_id, token_id, owner_type, owner_id, revision_id, instance_id,
      slug, ok, client_error, overloaded, server_error, abandoned, cancelled, upstream_faults, tokens_in, tokens_out, duration_ms, attempts, mean_in_flight)
    select w.gateway_id, w.window_start, w.row_number, w.tenant_id, w.token_id, k.owner_type, k.owner_id, w.revision_id, w.instance_id,
      w.slug, w.ok, w.client_error, w.overloaded, w.server_error, w.abandoned, w.cancelled, w.upstream_faults, w.tokens_in, w.tokens_out, w.duration_ms, w.attempts, w.mean_in_flight
    from jsonb_to_recordset($1::jsonb) as w(gateway_id text, window_start timestamptz, row_number int, tenant_id text, token_id text,
      revision_id text, instance_id text, slug text, ok int, client_error int, overloaded int, server_error int, abandoned int, cancelled int, upstream_faults int,
      tokens_in bigint, tokens_out bigint, duration_ms float8, attempts int, mean_in_flight float8)
      left join api_tokens k on k.id = w.token_id
    on conflict do nothing`,
};

/** Stores closed windows, each with the owner that its token has. Safe to repeat with the same windows. */
export async function writeUsage(db: QueryClient, windows: readonly UsageWindow[]): Promise<void> {
  if (windows.length > 0) await db.query(WRITE_USAGE, [JSON.stringify(windows)]);
}

/** Deletes the oldest first; resolves to their number, at most the requested one. */
export const deleteUsageOlderThan = deletionOf('dataplane_delete_old_usage', 'dataplane_request_usage');
