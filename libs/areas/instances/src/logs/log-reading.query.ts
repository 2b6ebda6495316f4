import { LOGS_ASKED_CHANNEL, LOGS_READ_CHANNEL } from '@slipway/contracts';
import { prepared } from '@slipway/platform-database';
import type { LogChunkEntity, LogReadingEntity } from './log-reading.entity.js';

/*
 * A reading passes output from the worker that leads a target to an api process, which may be on another host. It uses
 * Postgres, the only thing that both reach. If either side dies, the other notices it by the age of the last sign of
 * life, measured in Postgres.
 */

/** A side without a sign for this long is gone. */
const LOG_SIDE_TIMEOUT = `interval '10 seconds'`;
/** Chunks of 64 KiB that may wait for the reader. A reader that reads nothing keeps 1 MiB. */
const MAX_WAITING = 16;

export type LogReadingRow = Pick<LogReadingEntity, 'id' | 'tenant_id' | 'instance_id' | 'options'>;

export type LogChunkRow = Pick<LogChunkEntity, 'sequence' | 'lines' | 'is_last' | 'problem'>;

/** The notification is sent with the commit of the row. */
export const REQUEST_LOG_READING = prepared(
  'instances-request-log-reading',
  `with asked as (
     insert into log_readings (id, tenant_id, target, instance_id, options) values ($1, $2, $3, $4, $5) returning target
   )
   select pg_notify('${LOGS_ASKED_CHANNEL}', target) from asked`,
);

/**
 * Takes the waiting chunks in one round trip. It deletes them, which lets the worker write more. Notifies again as long
 * as no worker has accepted the reading.
 */
export const TAKE_LOG_CHUNKS = prepared(
  'instances-take-log-chunks',
  `with seen as (
     update log_readings set reader_seen_at = clock_timestamp() where id = $1 returning target, served_at
   ), taken as (
     delete from log_chunks where reading_id = $1 returning sequence, lines, is_last, problem
   ), told as (
     select pg_notify('${LOGS_ASKED_CHANNEL}', target) from seen where served_at is null
   )
   select seen.served_at is not null as "isServed", coalesce(seen.served_at < clock_timestamp() - ${LOG_SIDE_TIMEOUT}, false) as "isLeft",
     (select count(*)::int from told) as told,
     coalesce((select json_agg(taken order by sequence) from taken), '[]'::json) as chunks
   from seen`,
);

/**
 * Accepts the oldest reading that no worker serves, of a tenant not in $2. If two workers believe they lead, each
 * reading gets one of them.
 */
export const CLAIM_LOG_READING = prepared(
  'instances-claim-log-reading',
  `update log_readings set served_at = clock_timestamp()
   where id = any(array(
     select id from log_readings
     where target = $1 and served_at is null and reader_seen_at > clock_timestamp() - ${LOG_SIDE_TIMEOUT} and tenant_id <> all($2::text[])
     order by asked_at limit 1 for update skip locked))
   returning id, tenant_id, instance_id, options`,
);

/** Records a sign of life. Returns a row if the reader is still there. */
export const CONFIRM_LOG_READING = prepared(
  'instances-confirm-log-reading',
  `update log_readings set served_at = clock_timestamp()
   where id = $1 and reader_seen_at > clock_timestamp() - ${LOG_SIDE_TIMEOUT} returning id`,
);

/**
 * Adds a chunk. Adds nothing while too many wait, and the worker then retries. The notification is sent with the commit
 * of the row.
 */
export const ADD_LOG_CHUNK = prepared(
  'instances-add-log-chunk',
  `with written as (
     insert into log_chunks (reading_id, sequence, tenant_id, lines, is_last, problem)
     select r.id, $2, r.tenant_id, $3, $4, $5 from log_readings r
     where r.id = $1 and (select count(*) from log_chunks c where c.reading_id = $1) < ${MAX_WAITING}
     returning reading_id
   )
   select pg_notify('${LOGS_READ_CHANNEL}', reading_id) from written`,
);

/** Whether a worker leads the target, by the lock of the leader (`target-leadership.ts`). */
export const IS_TARGET_LED = prepared(
  'instances-is-target-led',
  `select exists (
     select from pg_locks l, hashtextextended('slipway-target/' || $1, 0) as key
     where l.locktype = 'advisory' and l.granted and l.objsubid = 1
       and l.database = (select oid from pg_database where datname = current_database())
       and l.classid::bigint = (key >> 32) & 4294967295 and l.objid::bigint = key & 4294967295) as leads`,
);
