import { PAGE_BYTES, type RowPage } from '@slipway/platform-database';
import { currentRequest } from '../context/request-context.js';
import { errors } from '../errors/platform.errors.js';
import { inUtc, isStorable, isTimestamp } from '../fields/read-object.js';
import { rawJson, type RawJson } from './reply.js';

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 200;

/** A position in a list: the sort keys of the last row of a page. */
export type CursorKey = (string | number)[];

/** The result of `@Page()`: how many rows a list returns, and after which row it starts. */
export interface PageRequest {
  limit: number;
  cursor?: CursorKey;
  /** Only of routes with `byTime`, as the next two. Newest first by default. */
  order?: ListOrder;
  /** RFC 3339: only rows created at this time or later, and only those created before the other. */
  since?: string;
  until?: string;
}

export const LIST_ORDERS = ['desc', 'asc'] as const;
export type ListOrder = (typeof LIST_ORDERS)[number];

/** The type of each part of a list's cursor. A cursor with other types is refused before it reaches SQL. */
export type CursorPart = 'string' | 'integer';

export interface PageOf<T> {
  data: T[];
  next_cursor: string | null;
}

/**
 * Makes the answer of rows that were read as a page. A page may have fewer rows than its limit and still have a next
 * one, because rows are also bounded by bytes.
 * @param keyOf returns the sort keys of a row, in the order of `@Page(...)`
 */
export function pageOf<T>({ rows, hasMore }: RowPage<T>, keyOf: (row: T) => CursorKey): PageOf<T> {
  const last = rows[rows.length - 1];
  return { data: rows, next_cursor: hasMore && last !== undefined ? encodeCursor(keyOf(last)) : null };
}

/**
 * Rows that are already in memory, or whose answers may be larger than what was read of them: the first of them, as
 * many as a page may have and as fit into its bytes, at least one.
 */
export function firstRows<T>(
  rows: readonly T[],
  limit: number,
  textOf: (row: T) => string = (row) => JSON.stringify(row),
): RowPage<T> {
  let bytes = 0;
  const kept: T[] = [];
  for (const row of rows) {
    bytes += Buffer.byteLength(textOf(row));
    if (kept.length === limit || (kept.length > 0 && bytes > PAGE_BYTES)) return { rows: kept, hasMore: true };
    kept.push(row);
  }
  return { rows: kept, hasMore: false };
}

/** `pageOf` for rows whose records are already JSON text. Returns the page as text, without rows that make it too long. */
export function rawPage<T extends { json: string }>(read: RowPage<T>, keyOf: (row: T) => CursorKey): RawJson {
  const { data, next_cursor } = pageOf(withinText(read), keyOf);
  return rawJson(`{"data":[${data.map(({ json }) => json).join(',')}],"next_cursor":${JSON.stringify(next_cursor)}}`);
}

/** A text is longer than what is stored if it escapes characters, or if it has parts of other tables. */
function withinText<T extends { json: string }>({ rows, hasMore }: RowPage<T>): RowPage<T> {
  const first = firstRows(rows, rows.length, ({ json }) => json);
  return { rows: first.rows, hasMore: hasMore || first.hasMore };
}

/**
 * Encodes a cursor with the id of its operation and the order of its rows, so that another list, or the same list in the
 * other order, refuses it instead of skipping rows.
 */
export function encodeCursor(key: CursorKey): string {
  return Buffer.from(JSON.stringify([listOfCursor(), ...key])).toString('base64url');
}

/** @throws invalid_parameter (400) if the cursor is from another list or order, or malformed */
export function decodeCursor(text: string, parts: CursorPart[]): CursorKey {
  const [list, ...key] = parse(text);
  const fits =
    list === listOfCursor() && key.length === parts.length && parts.every((part, index) => isPart(key[index], part));
  if (!fits) throw invalid('cursor', 'cursor must be a next_cursor that this list returned in the same order');
  return key as CursorKey;
}

/** The default order has no name in a cursor, because earlier versions knew no other. */
function listOfCursor(): string {
  const { route, listOrder } = currentRequest() ?? {};
  return `${route?.operationId ?? ''}${listOrder === 'asc' ? ' asc' : ''}`;
}

function parse(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function isPart(value: unknown, part: CursorPart): boolean {
  if (part === 'integer') return Number.isSafeInteger(value);
  return typeof value === 'string' && value.length <= 1024 && isStorable(value);
}

function invalid(field: string, message: string): Error {
  return errors.invalid_parameter({ message, details: [{ field, code: 'type', message }] });
}

/**
 * Reads `limit` and `cursor` of a list, and `order`, `since` and `until` of a list by time. They are not fields of a DTO,
 * because a cursor is checked against its operation and sort keys, and one message names both bounds of the limit.
 * @throws invalid_parameter (400) if they are malformed, validation_failed (422) if limit is out of range
 */
export function readPage(query: Record<string, unknown>, parts: CursorPart[]): PageRequest {
  const { limit, cursor } = query;
  if (cursor !== undefined && typeof cursor !== 'string') throw invalid('cursor', 'cursor must be given once');
  const request = currentRequest();
  const byTime = request?.route?.byTime ? readTimes(query) : {};
  // The cursor of this request and that of its answer are of this order.
  if (request && byTime.order) request.listOrder = byTime.order;
  const key = cursor === undefined ? undefined : decodeCursor(cursor, parts);
  return { limit: readLimit(limit), cursor: key, ...byTime };
}

function readTimes({ order, since, until }: Record<string, unknown>): Pick<PageRequest, 'order' | 'since' | 'until'> {
  const chosen = LIST_ORDERS.find((known) => known === (order ?? 'desc'));
  if (chosen === undefined) {
    const message = `order must be one of: ${LIST_ORDERS.join(', ')}`;
    throw errors.validation_failed({ details: [{ field: 'order', code: 'enum', message }] });
  }
  return { order: chosen, ...timeOf('since', since), ...timeOf('until', until) };
}

function timeOf(field: 'since' | 'until', given: unknown): { since?: string; until?: string } {
  if (given === undefined) return {};
  if (typeof given !== 'string' || !isTimestamp(given))
    throw invalid(field, `${field} must be an RFC 3339 time, such as 2026-01-01T12:00:00Z`);
  return { [field]: inUtc(given) };
}

function readLimit(given: unknown): number {
  if (given === undefined) return DEFAULT_LIMIT;
  if (Array.isArray(given)) throw invalid('limit', 'limit must be given once');
  if (typeof given !== 'string' || !/^-?\d{1,9}$/.test(given)) throw invalid('limit', 'limit must be an integer');
  const limit = Number(given);
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  const message = `limit must be between 1 and ${MAX_LIMIT}`;
  throw errors.validation_failed({ details: [{ field: 'limit', code: limit < 1 ? 'min' : 'max', message }] });
}
