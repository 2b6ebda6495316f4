/** An engine whose times are known, and its traffic until now. The last minutes are the busiest. */
export interface ServedTraffic {
  /** Milliseconds to the first token, alone; it is proportional to the load. */
  firstTokenMs: number;
  /** Requests at once in the last minutes. */
  busyLoad: number;
  busyMinutes: number;
  minutes: number;
  /** As many as keep the instance at its load, by default. */
  perMinute?: number;
}

const BUSY: ServedTraffic = { firstTokenMs: 100, busyLoad: 14, busyMinutes: 10, minutes: 70 };
const METRICS = ['ttft_ms', 'itl_ms', 'longest_gap_ms', 'e2e_latency_ms', 'output_tokens_per_s'];
const TOKENS = 400;
const MINUTE_MS = 60_000;

interface Histogram {
  n: number;
  sum: number;
  sq: number;
  b: Record<string, number>;
}

/** $1 is the list of `servedWindows`, as JSON. */
const WRITE_SERVED_WINDOWS = `
  insert into dataplane_request_stats (revision_id, window_start, gateway_id, tenant_id, ok, client_error, server_error, connect_error, cancelled, retried,
    streamed, tokens_in, tokens_out, histograms, loads, arrivals, session_arrivals, refused, tokens)
  select revision_id, window_start, 'gw', tenant_id, requests, 0, 0, 0, 0, 0, requests, 500 * requests, ${TOKENS} * requests, histograms, loads, requests, 0, 0, tokens
  from jsonb_to_recordset($1::jsonb) as w(revision_id text, tenant_id text, window_start timestamptz, requests int, histograms jsonb, loads jsonb, tokens jsonb)
  on conflict do nothing`;

/** Lets the merge begin with the row that starts at $1. */
const MERGE_FROM = `
  update dataplane_record_merges
  set merged_until = date_bin(make_interval(secs => seconds), $1::timestamptz, timestamptz 'epoch'), last_revision = null`;

/** Writes the rows that one gateway would have written, and lets the merge begin with them. Returns them. */
export async function writeServedWindows(
  query: (sql: string, values: unknown[]) => Promise<unknown>,
  ...[of, until, changes]: Parameters<typeof servedWindows>
): Promise<ReturnType<typeof servedWindows>> {
  const windows = servedWindows(of, until, changes);
  await query(WRITE_SERVED_WINDOWS, [JSON.stringify(windows)]);
  await query(MERGE_FROM, [windows[0]!.window_start]);
  return windows;
}

/** Returns one row for each of the whole minutes before `until`. */
function servedWindows(
  of: { revisionId: string; tenantId: string },
  until: Date,
  changes: Partial<ServedTraffic> = {},
) {
  const traffic = { ...BUSY, ...changes };
  const end = Math.floor(until.getTime() / MINUTE_MS) * MINUTE_MS;
  return Array.from({ length: traffic.minutes }, (_, index) => {
    const left = traffic.minutes - index;
    const load = left <= traffic.busyMinutes ? traffic.busyLoad : 1 + (index % 6) * 2;
    return windowOf(of, new Date(end - left * MINUTE_MS), load, traffic);
  });
}

function windowOf(
  { revisionId, tenantId }: { revisionId: string; tenantId: string },
  start: Date,
  load: number,
  { firstTokenMs, perMinute }: ServedTraffic,
) {
  const tokenMs = (at: number) => 10 * (1 + (at - 1) / 10);
  // Little's law.
  const requests = perMinute ?? Math.round((MINUTE_MS * load) / (firstTokenMs * load + tokenMs(load) * (TOKENS - 1)));
  const histograms = Object.fromEntries(METRICS.map((name) => [name, emptyHistogram()]));
  const byLoad: Record<string, Record<string, Histogram>> = Object.fromEntries(METRICS.map((name) => [name, {}]));
  const [input, output] = [emptyHistogram(), emptyHistogram()];
  for (let request = 0; request < requests; request += 1) {
    // A fifth more or less, evenly: no value is beyond any interval by chance.
    const at = Math.max(1, load * (0.8 + (0.4 * (request % 21)) / 20));
    const ttft_ms = firstTokenMs * at;
    const itl_ms = tokenMs(at);
    add(input, 500);
    add(output, TOKENS);
    for (const [name, value] of Object.entries({ ttft_ms, itl_ms, e2e_latency_ms: ttft_ms + itl_ms * (TOKENS - 1) })) {
      add(histograms[name]!, value);
      add((byLoad[name]![loadBucketOf(at)] ??= emptyHistogram()), value);
    }
  }
  return {
    revision_id: revisionId,
    tenant_id: tenantId,
    window_start: start.toISOString(),
    requests,
    histograms,
    loads: { instances: 1, alone_ms: 0, joined: 0, histograms: byLoad },
    tokens: { input, output },
  };
}

/** Half octaves from 1 on; alone is bucket 0. */
function loadBucketOf(load: number): number {
  return load < 1.03 ? 0 : 1 + Math.floor(Math.log2(load) * 2);
}

function emptyHistogram(): Histogram {
  return { n: 0, sum: 0, sq: 0, b: {} };
}

/** Eighths of an octave. */
function add(histogram: Histogram, value: number): void {
  const bucket = Math.floor(Math.log2(value) * 8);
  histogram.n += 1;
  histogram.sum += value;
  histogram.sq += value * value;
  histogram.b[bucket] = (histogram.b[bucket] ?? 0) + 1;
}
