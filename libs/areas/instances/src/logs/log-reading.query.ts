import { LOGS_ASKED_CHANNEL, LOGS_READ_CHANNEL } from '@slipway/contracts';
import { prepared } from '@slipway/platform-database';
import type { LogChunkEntity, LogReadingEntity } from './log-reading.entity.js';

/*
 * A reading passes output from the worker that leads a target to an api process, which may be on another host, through Postgres: the one
 * thing that both reach. Either side that dies is noticed by the age of its last sign of life, measured here.
 */

/** A side that has given no sign for so long is gone. */
const LOG_SIDE_TIMEOUT = `interval '10 seconds'`;
/** Chunks that may wait for who asks. Of 64 KiB, so a reader that reads nothing keeps 1 MiB. */
const MAX_WAITING = 16;

export type LogReadingRow = Pick<LogReadingEntity, 'id' | 'tenant_id' | 'instance_id' | 'options'>;

export type LogChunkRow = Pick<LogChunkEntity, 'sequence' | 'lines' | 'is_last' | 'problem'>;

/** The notification goes with the row. */
export const REQUEST_LOG_READING = prepared(
  'instances-request-log-reading',
  `with asked as (
     insert into log_readings (id, tenant_id, target, instance_id, options) values ($1, $2, $3, $4, $5) returning target
   )
   select pg_notify('${LOGS_ASKED_CHANNEL}', target) from asked`,
);

/**
 * Takes what is there, in one round trip: a chunk that was taken is gone, which is also how the worker learns that it may go on. Says again
 * that somebody asks as long as nobody has heard.
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

/** Takes on the oldest reading that nobody serves yet, of a tenant not in $2. Of two workers that believe to lead, each reading gets one. */
export const CLAIM_LOG_READING = prepared(
  'instances-claim-log-reading',
  `update log_readings set served_at = clock_timestamp()
   where id in (
     select id from log_readings
     where target = $1 and served_at is null and reader_seen_at > clock_timestamp() - ${LOG_SIDE_TIMEOUT} and tenant_id <> all($2::text[])
     order by asked_at limit 1 for update skip locked)
   returning id, tenant_id, instance_id, options`,
);

/** A sign of life, and whether somebody still asks. */
export const CONFIRM_LOG_READING = prepared(
  'instances-confirm-log-reading',
  `update log_readings set served_at = clock_timestamp()
   where id = $1 and reader_seen_at > clock_timestamp() - ${LOG_SIDE_TIMEOUT} returning id`,
);

/** Nothing while too much waits already: the worker tries again. The notification goes with the row. */
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

/** Whether a worker leads the target, by the lock that it has then (`target-leadership.ts`). */
export const IS_TARGET_LED = prepared(
  'instances-is-target-led',
  `select exists (
     select from pg_locks l, hashtextextended('slipway-target/' || $1, 0) as key
     where l.locktype = 'advisory' and l.granted and l.objsubid = 1
       and l.database = (select oid from pg_database where datname = current_database())
       and l.classid::bigint = (key >> 32) & 4294967295 and l.objid::bigint = key & 4294967295) as leads`,
);
