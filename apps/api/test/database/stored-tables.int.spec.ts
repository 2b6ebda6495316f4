import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { QUOTAS } from '@slipway/platform-config';
import { MIGRATIONS } from '@slipway/registry';
import { MigratedDatabase } from './migrated-database.js';

/**
 * The tables of a tenant whose rows do not count in `stored_bytes`, each with the reason why a tenant cannot fill them.
 * Every other table with a `tenant_id` must be counted (`slipway_count_stored`).
 */
const LIMITED_OTHERWISE: Record<string, string> = {
  audit_anchors: 'one for each time that Slipway anchors the audit log of a tenant',
  audit_heads: 'one for each tenant',
  audit_log: 'rows of a bounded size, at most one for each mutation: mutations_per_minute',
  audit_reads: 'rows of a bounded size, deleted an hour after the last read: reads_per_minute',
  autopilot_plan_executions: 'one for each counted plan',
  autopilot_plan_outcomes: 'at most 72 for each counted plan, of a bounded size',
  autopilot_schedules: 'one for each deployment, written by Slipway',
  dataplane_backends: 'one for each revision that runs, derived from its counted spec: instances',
  dataplane_engine_peaks: 'written by gateways at a fixed rate for each running revision',
  dataplane_followed_routes: 'one for each gateway and deployment',
  dataplane_inflight: 'one for each gateway and running revision',
  dataplane_passport_counts: 'one for each tenant',
  dataplane_passports: 'rows of a bounded size: context_passports',
  dataplane_published: 'one for each product, derived from its counted publication: products',
  dataplane_request_stats: 'written by gateways at a fixed rate for each running revision: statistics_days',
  dataplane_request_usage: 'bounded rows in each window of a gateway: usage_days',
  dataplane_routes: 'one for each deployment',
  dataplane_service_records: 'written by Slipway at a fixed rate for each running revision',
  device_claims: 'at most one for each device and instance: instances',
  engine_loads: 'one for each instance: instances',
  event_inbox: 'one for each counted event and subscription of Slipway, deleted when it is handled',
  event_streams: 'one for each counted deployment, sandbox or binding, of a bounded size',
  instances: 'written by Slipway, deleted with their counted workload: instances',
  log_chunks: 'deleted when they are read, a bounded number for each reading',
  log_readings: 'one for each open request for logs, deleted a minute after it ends',
  outbox: 'deleted within seconds by the relay',
  preparations: 'one for each live operation and revision',
  revision_pins: 'one for each binding: target_bindings',
  routes: 'one for each deployment, of a bounded size',
  sandbox_stray_blobs: 'one for each upload that has not ended, and for each file that is being deleted',
  stored_changes: 'the counts themselves, added up within seconds',
  stored_totals: 'the counts themselves, one for each table',
  tenant_organizations: 'written by the operator',
  traffic_owner: 'one for each deployment with a live operation',
  webhook_deliveries:
    'rows of a bounded size: webhook_deliveries, webhooks, and the counted events; fifty ended tests for each webhook',
  webhook_lanes: 'one for each webhook and event stream: webhooks',
  workload_holds: 'a few for each counted workload',
  workload_scalings: 'one for each counted workload',
  workload_waiters: 'one for each live operation and workload',
};

/** Columns of counted tables that are not counted, because a request cannot make them long. */
const BOUNDED_NAMES =
  /^(id|.*_id|.*_by|.*_digest|.*_type|kind|state|status|stream|type|digest|fingerprint|method|mode|provider|target|actor|owner|decision|creator_.*|lease_.*|.*_status|phase|awaiting|waiting_for|error_code|sha256|blob|sync|sync_error|sealed_secret|revision_name|deployment_name|resource_name|name|scopes)$/;
/** Written by Slipway, with a bounded size. */
const WRITTEN_BY_SLIPWAY: Record<string, readonly string[]> = {
  api_tokens: ['secret_sha256'],
  autopilot_plans: ['idea_key'],
  deployments: ['conditions'],
  model_api_target_bindings: ['reported_faults'],
  operations: ['failure', 'result', 'message', 'current_step'],
  operation_steps: ['state', 'message'],
  webhooks: ['disabled_reason', 'sealed_previous_secret'],
  workloads: ['reported_faults', 'last_failed_start'],
};

let database: MigratedDatabase;

beforeAll(async () => {
  database = await MigratedDatabase.start(MIGRATIONS);
});
afterAll(() => database?.stop());

const rowsOf = (sql: string): Promise<any[]> => database.rowsOf(sql);
/** The counted tables, with the columns whose text counts. */
const countedTables = () =>
  rowsOf(
    `select name, quota, is_record as "isRecord",
       array(select m[1] from regexp_matches(bytes_of_row, 'r\\."?([a-z_0-9]+)"?::text', 'g') m) as columns
     from stored_tables order by name`,
  );

it('counts every table of a tenant in stored_bytes, or names another limit', async () => {
  const tables = await rowsOf(`
    select c.relname::text as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
    where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace order by 1`);
  const counted = (await countedTables()).map(({ name }) => name as string);
  const covered = [...counted, ...Object.keys(LIMITED_OTHERWISE)].sort();
  // Neither a table without a limit, nor a name twice, nor one that is gone.
  expect(covered).toEqual(tables.map(({ name }) => name));
  expect(counted.length).toBeGreaterThan(15);
});

it('counts the rows of these tables with a quota of their own', async () => {
  const quotas = Object.fromEntries(
    (await countedTables()).flatMap(({ name, quota }) => (quota === null ? [] : [[name, quota]])),
  );
  expect(quotas).toEqual({
    autopilot_plans: 'plans',
    console_access: 'console_access',
    idempotency_keys: 'idempotency_keys',
    model_api_products: 'products',
    model_api_publications: 'publications',
    model_api_target_bindings: 'target_bindings',
    optimization_policies: 'policy_versions',
    sandbox_references: 'sandbox_references',
  });
  for (const quota of Object.values(quotas)) expect(Object.keys(QUOTAS)).toContain(quota);
});

it('counts every column that a request can make long', async () => {
  const columns = await rowsOf(`
    select c.relname::text as "table", a.attname::text as name from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped join pg_type t on t.oid = a.atttypid
    where c.relnamespace = 'public'::regnamespace and t.typname in ('text', '_text', 'jsonb', 'json', 'bytea', 'varchar')`);
  const missing = (await countedTables()).flatMap(({ name, columns: counted }) =>
    columns
      .filter((column) => column.table === name && !(counted as string[]).includes(column.name))
      .map((column) => column.name as string)
      .filter((column) => !BOUNDED_NAMES.test(column) && !WRITTEN_BY_SLIPWAY[name as string]?.includes(column))
      .map((column) => `${name}.${column}`),
  );
  expect(missing).toEqual([]);
});

it('counts inserts, updates and deletes of each of these tables', async () => {
  const triggers = await rowsOf(`
    select c.relname::text as "table", array_agg(t.tgname::text order by t.tgname) as names from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where t.tgname like 'count\\_%' and t.tgenabled = 'O' group by 1`);
  const byTable = new Map(triggers.map(({ table, names }) => [table, names]));
  for (const { name, columns } of await countedTables())
    expect([name, byTable.get(name)]).toEqual([
      name,
      ['added', ...(columns.length > 0 ? ['changed'] : []), 'removed'].map((what) => `count_${name}_${what}`),
    ]);
});
