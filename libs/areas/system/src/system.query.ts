import { LAST_BACKUP_AT, prepared } from '@slipway/platform-database';

/** An upsert by the clock of Postgres: those of hosts may differ. */
export const RECORD_WORKER_BEAT = prepared(
  'system-worker-beat',
  `insert into system_workers (worker_id, version) values ($1, $2) on conflict (worker_id) do update set seen_at = clock_timestamp()`,
);

/** By the clock of Postgres, too. */
export const FORGET_SILENT_WORKERS = prepared(
  'system-worker-forget',
  `delete from system_workers where seen_at < clock_timestamp() - interval '5 minutes'`,
);

const IS_ALIVE = `seen_at > clock_timestamp() - interval '15 seconds'`;

/** Reads what the metrics show of Postgres itself and of the heartbeats, in one round trip. Every scrape runs it. */
export const FIND_STORED_METRICS = prepared(
  'system-stored-metrics',
  `select
     (select count(*)::int from system_workers where ${IS_ALIVE}) as workers,
     pg_database_size(current_database())::float8 as size,
     (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
     current_setting('max_connections')::int as connections_limit,
     ${LAST_BACKUP_AT} as backup_at`,
);

/** Reads Postgres itself, the schema and the workers' heartbeats, at one moment and in one round trip. */
export const FIND_SYSTEM_STATUS = prepared(
  'system-status',
  `select
     current_setting('server_version') as "postgresVersion", pg_postmaster_start_time() as "postgresStartedAt",
     (select jsonb_build_object('applied', count(*), 'newest', (array_agg(name order by timestamp desc))[1]) from schema_migrations) as schema,
     (select coalesce(jsonb_agg(jsonb_build_object('id', worker_id, 'version', version, 'started_at', slipway_rfc3339(started_at),
         'seen_at', slipway_rfc3339(seen_at), 'is_alive', ${IS_ALIVE}) order by started_at, worker_id), '[]')
       from system_workers) as workers`,
);
