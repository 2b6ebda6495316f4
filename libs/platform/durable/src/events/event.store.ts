import { EVENTS_CHANNEL, INBOX_CHANNEL, actorText, beginningOf, type Actor } from '@slipway/contracts';
import {
  KEYS,
  listOf,
  listValues,
  locking,
  lookup,
  newId,
  prepared,
  rowPage,
  withinBytes,
  type Database,
  type RowPage,
  type Tx,
  type TxScope,
} from '@slipway/platform-database';

/** An event to append. `data` is the CloudEvent's payload; `subject` names its resource, such as `deployments/chat`. */
export interface NewEvent {
  type: string;
  subject: string;
  data: Record<string, unknown>;
  actor: Actor;
  operationId?: string | null;
  revisionId?: string | null;
}

/** Events of one stream, to be appended in this order. */
export interface EventAppend {
  tenantId: string;
  stream: string;
  events: readonly NewEvent[];
}

/**
 * The parts of a `with` that append, for a statement that also does something else: one message instead of two.
 *
 * The upsert takes each stream's row lock, in the order of their names, and keeps it until the commit. That makes
 * sequences gapless and visible in order, and it is why events are appended last in a transaction. The same statement
 * puts the events that a subscription waits for into its inbox.
 * @param given rows of `stream`, `tenant_id` and `events` (`eventsAsWritten`), each stream once
 */
export function appending(given: string): string {
  return `appended as (
     select stream, tenant_id, events, jsonb_array_length(events) as count from ${given}
   ), head as (
     insert into event_streams as s (stream, tenant_id, last_sequence) select stream, tenant_id, count from appended order by stream
     on conflict (stream) do update set last_sequence = s.last_sequence + excluded.last_sequence
     returning stream, last_sequence, pg_notify('${EVENTS_CHANNEL}', stream)
   ), added as (
     insert into events (stream, sequence, tenant_id, id, type, subject, actor, operation_id, revision_id, data)
     select stream, head.last_sequence - appended.count + e.ordinality, appended.tenant_id, e.value->>'id', e.value->>'type', e.value->>'subject',
            e.value->>'actor', e.value->>'operationId', e.value->>'revisionId', e.value->'data'
     from appended join head using (stream), jsonb_array_elements(appended.events) with ordinality e
     returning stream, sequence, tenant_id, type
   ), received as (
     insert into event_inbox (subscription, tenant_id, stream, sequence)
     select w.subscription, added.tenant_id, added.stream, added.sequence from added join event_subscriptions w using (type)
     returning pg_notify('${INBOX_CHANNEL}', subscription)
   )`;
}

/** Events as `appending` accepts them. */
export function eventsAsWritten(events: readonly NewEvent[]): object[] {
  return events.map((event) => ({
    ...event,
    data: boundedData(event.data),
    id: newId('evt'),
    actor: actorText(event.actor),
  }));
}

const APPENDED = { stream: 'text', tenant_id: 'text', events: 'jsonb' } as const;
const APPEND_EVENTS = locking(
  'event_stream',
  prepared('events-append', `with ${appending(listOf('given', APPENDED))} select`),
  ([streams]) => streams as string[],
);

/** Appends to several streams at once. Each stream is in the list only once. */
export async function appendAll(tx: Tx, appends: readonly EventAppend[]): Promise<void> {
  const given = appends.filter(({ events }) => events.length > 0);
  const rows = given.map(({ stream, tenantId, events }) => ({
    stream,
    tenant_id: tenantId,
    events: eventsAsWritten(events),
  }));
  if (rows.length > 0) await tx.query(APPEND_EVENTS, listValues(APPENDED, rows));
}

export async function appendEvents(
  tx: Tx,
  tenantId: string,
  stream: string,
  events: readonly NewEvent[],
): Promise<void> {
  await appendAll(tx, [{ tenantId, stream, events }]);
}

export interface EventPage {
  /** Events strictly after this sequence in the requested order. */
  after?: number;
  /** Only events of these types. */
  types?: readonly string[];
  order: 'asc' | 'desc';
  limit: number;
}

const SELECT_EVENT = `
  e.sequence::int8 as sequence, (select row_to_json(r) from (select
    '1.0' as specversion, e.id, '/api/v1/' || split_part(e.subject, '/', 1) as source, e.type, e.subject,
    slipway_rfc3339(e.time) as time, 'application/json' as datacontenttype, e.sequence, e.actor,
    e.operation_id as operationid, e.revision_id as revisionid, e.data) r)::text as json`;

/** The events of a page, bounded by bytes: one event may be as large as the change that it reports. */
const pageFrom = (condition: string, direction: 'asc' | 'desc') =>
  `select e.has_more, ${SELECT_EVENT} from ${withinBytes(
    'e',
    `select * from events where ${condition} and sequence ${direction === 'asc' ? '>' : '<'} $2 order by sequence ${direction}`,
    '$3',
    { data: 'jsonb', subject: 'text' },
  )} order by e.page_row`;

const OF_TYPES = `stream = $1 and type = any($4::text[])`;
const OF_OPERATION = `operation_id = $1 and ($4::text[] is null or type = any($4))`;

/**
 * Keyset pages on (stream, sequence): as fast at a million events as at a thousand. Each has its own text, because
 * plans differ by order.
 */
const PAGES = {
  asc: lookup('events-asc', pageFrom('stream = $1', 'asc')),
  desc: lookup('events-desc', pageFrom('stream = $1', 'desc')),
  typesAsc: prepared('events-types-asc', pageFrom(OF_TYPES, 'asc')),
  typesDesc: prepared('events-types-desc', pageFrom(OF_TYPES, 'desc')),
  operationAsc: prepared('events-operation-asc', pageFrom(OF_OPERATION, 'asc')),
  operationDesc: prepared('events-operation-desc', pageFrom(OF_OPERATION, 'desc')),
};

export interface StoredEvent {
  sequence: string;
  /** The CloudEvent as JSON text. */
  json: string;
}

/** The events that a page or a watcher reads: a whole stream, or the events of one operation within its stream. */
export interface EventSource {
  stream: string;
  operation?: { id: string; hasEnded(): Promise<boolean> };
}

/** Whether all events of an operation have been sent: none of them is after this sequence. */
export const HAS_EVENT = prepared(
  'events-told',
  `select not exists (select from events where operation_id = $1 and sequence > $2) as told`,
);

/** Reads one page: at most `limit` events, and at least one if there is any. */
export async function readEvents(
  database: Database,
  scope: TxScope,
  source: EventSource,
  page: EventPage,
): Promise<RowPage<StoredEvent>> {
  const { statement, values } = eventPage(source, page);
  return rowPage(await database.read<StoredEvent>(scope, statement, values));
}

/** The statement of one page and its values. */
function eventPage(source: EventSource, page: EventPage) {
  const start = page.after ?? (page.order === 'asc' ? 0 : Number.MAX_SAFE_INTEGER);
  if (source.operation) {
    return {
      statement: page.order === 'asc' ? PAGES.operationAsc : PAGES.operationDesc,
      values: [source.operation.id, start, page.limit, page.types ?? null],
    };
  }
  if (page.types)
    return {
      statement: page.order === 'asc' ? PAGES.typesAsc : PAGES.typesDesc,
      values: [source.stream, start, page.limit, page.types],
    };
  return { statement: page.order === 'asc' ? PAGES.asc : PAGES.desc, values: [source.stream, start, page.limit] };
}

/**
 * First and last sequence of a stream. The first is null if the stream holds no events; a stream that never had any has
 * no row. Deleted events stay in the index until a vacuum. They are not read, because the search begins after them.
 */
export const EVENT_BOUNDS = lookup(
  'events-bounds',
  `select s.stream as key, (select min(e.sequence) from events e where e.stream = s.stream and e.sequence >= s.first_sequence)::text as first, s.last_sequence::text as last
   from event_streams s where s.stream = any ${KEYS}`,
);

/**
 * The most bytes of an event's data as JSON. An event is stored once and sent to every reader of its stream and to
 * every webhook, so its size must not be that of the largest request body.
 */
export const MAX_EVENT_DATA_BYTES = 64 * 1024;

/** The field of the data that names what was left out. */
const OMITTED = 'omitted';
/** Names beyond this number are left out, because the names of many small fields would be as large as the fields. */
const MOST_OMITTED = 100;

/**
 * Returns data of a bounded size. If it is too large, its largest fields are left out, and `omitted` names them. Small
 * fields, such as ids, versions and digests, stay, so that a reader can get the rest from the resource.
 */
export function boundedData(data: Record<string, unknown>): Record<string, unknown> {
  const whole = bytesOf(data);
  if (whole <= MAX_EVENT_DATA_BYTES) return data;
  // With a colon and a comma.
  const sizes = Object.entries(data)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({ name, bytes: bytesOf(name) + bytesOf(value) + 2 }))
    .sort((one, other) => other.bytes - one.bytes);
  const kept = { ...data };
  const omitted: string[] = [];
  let bytes = whole + bytesOf(OMITTED) + bytesOf([]) + 2;
  for (const field of sizes) {
    if (bytes <= MAX_EVENT_DATA_BYTES) break;
    delete kept[field.name];
    bytes -= field.bytes;
    if (omitted.length === MOST_OMITTED) continue;
    // By characters: Postgres refuses half of a surrogate pair.
    const name = beginningOf(field.name, 100);
    omitted.push(name);
    bytes += bytesOf(name) + 1;
  }
  return { ...kept, [OMITTED]: omitted };
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
