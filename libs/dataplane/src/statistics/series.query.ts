import type { Distribution } from '@slipway/contracts';
import { emptyHistogram, type Histogram } from './histogram.js';
import { emptyLoads } from './load.js';
import type { NamedSql, QueryClient } from '../sql.js';
import { addedCounts, histogramsOf, type AttemptCounts, type RequestStats } from './stats.query.js';

/*
 * Read every few seconds while a person has a page open, over hours and several revisions. Postgres therefore adds up
 * the histograms: it sends the buckets of each step, for any number of seconds and gateways, and no process parses the
 * rows. Nothing is locked. A window is written once, so a step changes only until `statsCompleteUntil` has passed it.
 *
 * `known` reads one revision after the other, by the primary key. Most revisions of a deployment have recorded nothing
 * lately, and a join would read what all tenants recorded in that time. The same is true for `windows`: its `offset 0`
 * keeps it a lookup by key.
 */
const READ_SERIES: NamedSql = {
  name: 'dataplane_read_series',
  text: `
    with known as materialized (
      select r.revision_id, row_number() over (order by r.position) as rank
      from unnest($1::text[]) with ordinality as r(revision_id, position)
      cross join lateral (
        select from dataplane_request_stats s
        where s.revision_id = r.revision_id and s.window_start >= $2 and s.window_start < $3 limit 1) as any_window),
    windows as materialized (
      select k.revision_id, floor(extract(epoch from w.window_start) / $4::int)::bigint as step, w.*
      from known k
      cross join lateral (
        select window_start, ok, client_error, overloaded, server_error, connect_error, abandoned, cancelled, retried, overloaded_retried, streamed, tokens_in, tokens_out, histograms,
          (loads ->> 'instances')::int as instances
        from dataplane_request_stats s
        where s.revision_id = k.revision_id and s.window_start >= $2 and s.window_start < $3 offset 0) as w
      where k.rank <= $5),
    counts as (
      select revision_id, step, sum(ok)::int as ok, sum(client_error)::int as client_error, sum(overloaded)::int as overloaded,
        sum(server_error)::int as server_error, sum(connect_error)::int as connect_error, sum(abandoned)::int as abandoned,
        sum(cancelled)::int as cancelled, sum(retried)::int as retried, sum(overloaded_retried)::int as overloaded_retried,
        sum(streamed)::int as streamed, sum(tokens_in)::float8 as tokens_in, sum(tokens_out)::float8 as tokens_out, max(instances) as instances
      from windows group by revision_id, step),
    parts as materialized (
      select w.revision_id, w.step, h.key as metric, h.value as histogram from windows w cross join lateral jsonb_each(w.histograms) as h),
    sums as (
      select revision_id, step, metric, sum((histogram ->> 'n')::float8) as n, sum((histogram ->> 'sum')::float8) as total,
        sum((histogram ->> 'sq')::float8) as sq
      from parts group by revision_id, step, metric),
    buckets as (
      select revision_id, step, metric, jsonb_object_agg(bucket, total) as b
      from (
        select p.revision_id, p.step, p.metric, b.key as bucket, sum(b.value::int) as total
        from parts p cross join lateral jsonb_each_text(p.histogram -> 'b') as b
        group by p.revision_id, p.step, p.metric, b.key) as added
      group by revision_id, step, metric),
    histograms as (
      select revision_id, step,
        jsonb_object_agg(metric, jsonb_build_object('n', n, 'sum', total, 'sq', sq, 'b', coalesce(b, '{}'))) as histograms
      from sums left join buckets using (revision_id, step, metric) group by revision_id, step)
    select c.*, h.histograms, (select count(*) from known)::int as known
    from counts c left join histograms h using (revision_id, step)
    order by c.step`,
};

/** The planner estimates a hundred values in each histogram, and would compile for longer than the statement takes. */
const WITHOUT_COMPILING: NamedSql = { name: 'dataplane_no_jit', text: `select set_config('jit', 'off', true)` };

/** Attempts that ended on a revision within one step, over all gateways. */
export interface SeriesStep {
  /** Start of the step. */
  at: Date;
  /** Of its `loads`, only the number of instances is set. */
  stats: RequestStats;
  /** Ready instances, the most that a gateway chose from; null if no gateway reported it. */
  instances: number | null;
}

export interface Series {
  /** By revision, oldest step first. Steps in which nothing ended or came are absent, and so are revisions without any. */
  steps: Map<string, SeriesStep[]>;
  /** Whether more of the revisions have recorded something in that time. */
  hasMore: boolean;
}

interface SeriesRow extends AttemptCounts {
  revision_id: string;
  /** Number of the step since 1970. */
  step: string;
  streamed: number;
  tokens_in: number;
  tokens_out: number;
  instances: number | null;
  histograms: Partial<Record<Distribution, Histogram>> | null;
  known: number;
}

/**
 * Returns what ended in the whole seconds of [from, to), in steps that begin at multiples of `stepSeconds`. Call it
 * inside a transaction.
 * @param revisionIds in order of preference: the first `most` that have recorded something are returned
 */
export async function statsSeries(
  db: QueryClient,
  revisionIds: readonly string[],
  { from, to, stepSeconds, most }: { from: Date; to: Date; stepSeconds: number; most: number },
): Promise<Series> {
  const [, rows] = await Promise.all([
    db.query(WITHOUT_COMPILING),
    db.query<SeriesRow>(READ_SERIES, [revisionIds, from, to, stepSeconds, most]),
  ]);
  const steps = new Map<string, SeriesStep[]>();
  for (const row of rows) {
    const step = stepOf(row, stepSeconds);
    const earlier = steps.get(row.revision_id);
    if (earlier) earlier.push(step);
    else steps.set(row.revision_id, [step]);
  }
  return { steps, hasMore: (rows[0]?.known ?? 0) > steps.size };
}

function stepOf(row: SeriesRow, stepSeconds: number): SeriesStep {
  const { instances } = row;
  return {
    at: new Date(Number(row.step) * stepSeconds * 1_000),
    instances,
    stats: {
      counts: addedCounts([row]),
      streamed: row.streamed,
      tokens_in: row.tokens_in,
      tokens_out: row.tokens_out,
      ...histogramsOf((metric) => row.histograms?.[metric] ?? emptyHistogram()),
      loads: { ...emptyLoads(), instances: instances ?? 0 },
    },
  };
}
