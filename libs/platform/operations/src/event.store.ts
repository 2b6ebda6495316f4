import { newId, prepared, type Tx } from '@slipway/platform-database';

/** An event to append. `data` is the CloudEvent's payload; `subject` names what it is about, such as `deployments/chat`. */
export interface NewEvent {
  type: string;
  subject: string;
  data: Record<string, unknown>;
  actor: { type: string; id: string };
  operationId?: string | null;
  revisionId?: string | null;
}

/** The channel that wakes event streams; the payload is the stream's name. */
export const EVENTS_CHANNEL = 'slipway_events';

/**
 * Appends to one stream. The upsert takes the stream's row lock, which lives until commit: it makes sequences gapless and
 * visible in order, and is why events are appended last in a transaction.
 */
const APPEND = prepared(
  'events-append',
  `with head as (
     insert into event_streams as s (stream, tenant_id, last_sequence) values ($1, $2, $3)
     on conflict (stream) do update set last_sequence = s.last_sequence + $3
     returning last_sequence
   ), added as (
     insert into events (stream, sequence, tenant_id, id, type, subject, actor, operation_id, revision_id, data)
     select $1, head.last_sequence - $3 + e.ordinality, $2, e.value->>'id', e.value->>'type', e.value->>'subject', e.value->>'actor',
            e.value->>'operationId', e.value->>'revisionId', e.value->'data'
     from head, jsonb_array_elements($4::jsonb) with ordinality e
   )
   select pg_notify('${EVENTS_CHANNEL}', $1), last_sequence from head`,
);

export async function appendEvents(
  tx: Tx,
  tenantId: string,
  stream: string,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map((event) => ({ ...event, id: newId('evt'), actor: `${event.actor.type}:${event.actor.id}` }));
  await tx.query(APPEND, [stream, tenantId, events.length, JSON.stringify(rows)]);
}

const LOCK_OPERATION = prepared('operation-lock-for-events', `select 1 from operations where id = $1 for update`);

/**
 * Before an append that stands in the middle of a step's commit: the commit itself locks the operation afterwards, and a
 * cancel locks the operation before its stream, so taking them in the other order here could deadlock with it.
 */
export async function lockBeforeEvents(tx: Tx, operationId: string): Promise<void> {
  await tx.query(LOCK_OPERATION, [operationId]);
}

export interface EventPage {
  /** Events strictly beyond this sequence in the order asked for. */
  after?: number;
  type?: string;
  order: 'asc' | 'desc';
  limit: number;
}

const SELECT_EVENT = `
  e.sequence::int8 as sequence, json_build_object(
    'specversion', '1.0', 'id', e.id, 'source', '/api/v1/' || split_part(e.subject, '/', 1), 'type', e.type, 'subject', e.subject,
    'time', slipway_rfc3339(e.time), 'datacontenttype', 'application/json', 'sequence', e.sequence, 'actor', e.actor,
    'operationid', e.operation_id, 'revisionid', e.revision_id, 'data', e.data)::text as json`;

/** Keyset pages on (stream, sequence): as fast at a million events as at a thousand. One text each, because plans differ by order. */
const PAGES = {
  asc: prepared(
    'events-asc',
    `select ${SELECT_EVENT} from events e where e.stream = $1 and e.sequence > $2 order by e.sequence limit $3`,
  ),
  desc: prepared(
    'events-desc',
    `select ${SELECT_EVENT} from events e where e.stream = $1 and e.sequence < $2 order by e.sequence desc limit $3`,
  ),
  typeAsc: prepared(
    'events-type-asc',
    `select ${SELECT_EVENT} from events e where e.stream = $1 and e.sequence > $2 and e.type = $4 order by e.sequence limit $3`,
  ),
  typeDesc: prepared(
    'events-type-desc',
    `select ${SELECT_EVENT} from events e where e.stream = $1 and e.sequence < $2 and e.type = $4 order by e.sequence desc limit $3`,
  ),
  operationAsc: prepared(
    'events-op-asc',
    `select ${SELECT_EVENT} from events e where e.operation_id = $1 and e.sequence > $2 and ($4::text is null or e.type = $4) order by e.sequence limit $3`,
  ),
  operationDesc: prepared(
    'events-op-desc',
    `select ${SELECT_EVENT} from events e where e.operation_id = $1 and e.sequence < $2 and ($4::text is null or e.type = $4) order by e.sequence desc limit $3`,
  ),
};

export interface StoredEvent {
  sequence: string;
  /** The CloudEvent as JSON text. */
  json: string;
}

/** What a page or a watcher looks at: a whole stream, or the events of one operation within its stream. */
export interface EventSource {
  stream: string;
  operationId?: string;
}

export function eventPage(source: EventSource, page: EventPage) {
  const start = page.after ?? (page.order === 'asc' ? 0 : Number.MAX_SAFE_INTEGER);
  if (source.operationId) {
    return {
      statement: page.order === 'asc' ? PAGES.operationAsc : PAGES.operationDesc,
      values: [source.operationId, start, page.limit, page.type ?? null],
    };
  }
  if (page.type)
    return {
      statement: page.order === 'asc' ? PAGES.typeAsc : PAGES.typeDesc,
      values: [source.stream, start, page.limit, page.type],
    };
  return { statement: page.order === 'asc' ? PAGES.asc : PAGES.desc, values: [source.stream, start, page.limit] };
}

/** First and last retained sequence of a stream; nulls when it has no events. */
export const BOUNDS = prepared(
  'events-bounds',
  `select (select min(sequence) from events where stream = $1)::text as first, (select last_sequence from event_streams where stream = $1)::text as last`,
);
