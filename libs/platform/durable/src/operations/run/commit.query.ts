import { OUTBOX_CHANNEL, sqlList, TERMINAL_STATUSES } from '@slipway/contracts';
import { listOf, listValues, locking, prepared, type Columns, type Statement } from '@slipway/platform-database';
import { appending } from '../../events/index.js';
import { OPERATION_COLUMNS, OPERATION_NAMES, STEP_COLUMNS, STEP_NAMES } from '../operation.row.js';

/*
 * Every write of a worker is this statement, for one operation or for several. Each row names the lease version that
 * its worker holds.
 * - A forward step also yields to a cancel, so that no step commits after a cancel was accepted.
 * - It also yields to a pause, a resume or a promotion that its worker has not seen.
 * - A worker that has seen the cancel runs no such step, but it may still put the operation back.
 * - No write turns an unwinding operation forward again. Otherwise a worker that did not learn of its own commit,
 *   because the connection broke, would begin the unwind a second time.
 * - A commit that the guard refuses is missing from the answer and has changed nothing, because the steps and the
 *   wake-up depend on the guard.
 *
 * Locks are taken in one order everywhere: the deployment (in the step's own commit), the operation (here), the event
 * stream (last). Requests use the same order, so they cannot deadlock.
 */
const guarded = (records: string) => `
  update operations o set
    status = c.status, current_step = c.step, current_step_status = c.step_status, progress = greatest(o.progress, c.progress),
    attempt = c.attempt, message = c.message, awaiting = c.awaiting, waiting_for = c.waiting_for, is_resumed = false,
    wake_at = now() + make_interval(secs => c.sleep_ms / 1000), phase = c.phase, failure = c.failure, result = o.result || c.result,
    error_code = c.error_code, retryable = c.retryable, updated_at = now(),
    completed_at = case when c.status in (${sqlList(TERMINAL_STATUSES)}) then now() end,
    lease_expires_at = now() + make_interval(secs => c.lease_seconds),
    dispatch = o.dispatch + (c.dispatch_ms is not null)::int,
    dispatched_at = case when c.dispatch_ms is null then o.dispatched_at else now() + make_interval(secs => c.dispatch_ms / 1000) end
  from ${records}
  where o.id = c.id and o.lease_version = c.lease_version and o.status in ('running','waiting','cancelling')
    and (c.phase = 'unwinding' or (o.phase = 'forward' and o.control_version = c.control_version and (not o.cancel_requested or c.is_cancel_seen)))
  returning ${OPERATION_COLUMNS}, o.tenant_id, o.dispatch, o.dispatched_at`;

/** Columns of a record, with their types. */
const ROW = {
  id: 'text',
  lease_version: 'bigint',
  status: 'text',
  step: 'text',
  step_status: 'text',
  progress: 'int',
  attempt: 'int',
  message: 'text',
  awaiting: 'text',
  waiting_for: 'text',
  control_version: 'int',
  sleep_ms: 'float8',
  phase: 'text',
  failure: 'jsonb',
  result: 'jsonb',
  error_code: 'text',
  retryable: 'boolean',
  lease_seconds: 'float8',
  dispatch_ms: 'float8',
  is_cancel_seen: 'boolean',
} as const;

const RETURNING_STEP = `returning s.operation_id, ${STEP_COLUMNS}`;

/**
 * The optional parts of a commit in addition to its own row, as parts of a `with`. The column with the part's name says
 * whether a commit has it.
 */
const PARTS = {
  ended: {
    columns: { ended: 'text', ended_status: 'text', ended_message: 'text', evidence: 'jsonb', step_result: 'jsonb' },
    text: `ended as (
    update operation_steps s set status = g.ended_status, completed_at = now(), message = coalesce(g.ended_message, ''),
      evidence = coalesce(g.evidence, s.evidence), result = g.step_result, state = null, started_at = coalesce(s.started_at, now())
    from guarded g where s.operation_id = g.id and s.name = g.ended ${RETURNING_STEP})`,
    changesSteps: true,
  },
  begins: {
    columns: { begins: 'text' },
    text: `begins as (
    update operation_steps s set status = 'running', started_at = coalesce(s.started_at, now())
    from guarded g where s.operation_id = g.id and s.name = g.begins ${RETURNING_STEP})`,
    changesSteps: true,
  },
  asleep: {
    columns: { asleep: 'text', asleep_status: 'text', asleep_message: 'text', state: 'jsonb' },
    text: `asleep as (
    update operation_steps s set status = g.asleep_status, message = coalesce(g.asleep_message, ''), state = g.state
    from guarded g where s.operation_id = g.id and s.name = g.asleep ${RETURNING_STEP})`,
    changesSteps: true,
  },
  way_back: {
    columns: { way_back: 'text[]', way_back_index: 'int' },
    text: `way_back as (
    insert into operation_steps as s (operation_id, tenant_id, name, index, is_unwind, status, started_at)
    select g.id, g.tenant_id, step.name, g.way_back_index + step.ordinality - 1, true,
      case when step.ordinality = 1 then 'running' else 'pending' end, case when step.ordinality = 1 then now() end
    from guarded g, unnest(g.way_back) with ordinality as step(name, ordinality) ${RETURNING_STEP})`,
    changesSteps: true,
  },
  undone: {
    columns: { undone: 'text[]' },
    text: `undone as (
    update operation_steps s set status = 'undone' from guarded g
    where s.operation_id = g.id and not s.is_unwind and s.status in ('succeeded','skipped') and split_part(s.name, ':', 1) = any(g.undone) ${RETURNING_STEP})`,
    changesSteps: true,
  },
  dispatch_ms: {
    columns: {},
    text: `dispatch_ms as (
    insert into outbox (tenant_id, operation_id, dispatch, not_before)
    select tenant_id, id, dispatch, dispatched_at from guarded where dispatch_ms is not null returning pg_notify('${OUTBOX_CHANNEL}', ''))`,
    changesSteps: false,
  },
  events: { columns: { events: 'jsonb' }, text: appending('guarded where events is not null'), changesSteps: false },
} as const satisfies Record<string, { columns: Record<string, string>; text: string; changesSteps: boolean }>;
type CommitPart = keyof typeof PARTS;
const NAMES = Object.keys(PARTS) as CommitPart[];

type ColumnsOf<P> = P extends { columns: infer C } ? keyof C : never;
/** One commit, by column; a missing column is null. */
export type CommitRecord = Partial<Record<keyof typeof ROW | ColumnsOf<(typeof PARTS)[CommitPart]>, unknown>>;

const statements = new Map<string, Statement>();

/**
 * Returns the statement for these records, and its values. It has only the parts that one of the records needs, because
 * Postgres also pays for a part that does nothing.
 */
export function commitOf(records: readonly CommitRecord[]): { statement: Statement; values: unknown[] } {
  const parts = NAMES.filter((name) => records.some((record) => record[name] !== undefined));
  const columns: Columns = Object.assign({}, ROW, ...parts.map((name) => PARTS[name].columns));
  const key = parts.join('-');
  const statement = statements.get(key) ?? made(key, columns, parts);
  statements.set(key, statement);
  return { statement, values: listValues(columns, records) };
}

function made(key: string, columns: Columns, parts: readonly CommitPart[]): Statement {
  const own = Object.keys(columns)
    .slice(Object.keys(ROW).length)
    .map((name) => `, c.${name}`);
  const update = `${guarded(listOf('c', columns))}, c.dispatch_ms${own.join('')}`;
  const ctes = parts.map((name) => `, ${PARTS[name].text}`);
  const statement = locking(
    'operation',
    prepared(
      `operation-commit-${key}`,
      `with guarded as (${update})${ctes.join('')} select ${OPERATION_NAMES}, ${changedSteps(parts)} as steps from guarded g`,
    ),
    ([ids]) => ids as string[],
  );
  // The values do not contain the names of these streams.
  return parts.includes('events') ? locking('event_stream', statement, () => []) : statement;
}

/** The steps that the statement has changed, as JSON. A query next to it would still see their earlier state. */
function changedSteps(parts: readonly CommitPart[]): string {
  const changes = parts
    .filter((name) => PARTS[name].changesSteps)
    .map((name) => `select ${STEP_NAMES} from ${name} where operation_id = g.id`);
  if (changes.length === 0) return `'[]'::json`;
  return `(select coalesce(json_agg(row_to_json(step)), '[]') from (${changes.join(' union all ')}) step)`;
}
