import {
  In,
  type EntityMetadata,
  type FindManyOptions,
  type FindOptionsOrder,
  type FindOptionsSelect,
  type FindOptionsWhere,
  type ObjectLiteral,
} from 'typeorm';
import type { Tx } from './tx.js';

/**
 * Rows that are read together, bounded by number and by bytes. There is always at least one row if any exists, so a row
 * of any size is readable.
 */
export interface RowPage<T> {
  rows: T[];
  /** Whether more rows follow, because of either bound. */
  hasMore: boolean;
}

/**
 * The most bytes of stored values that are read together. One page holds the event loop, and the memory of a process,
 * for as long as this takes to be parsed and printed, whatever a tenant has stored.
 */
export const PAGE_BYTES = 1024 * 1024;

/** Columns whose values may be large, with their types: their sizes bound a page. */
export type LargeColumns = Readonly<Record<string, 'text' | 'jsonb' | 'other'>>;

/**
 * A FROM item: the first rows of a select with an order, bounded by number and by bytes. It has all columns of the
 * select, and `page_row` (from 1) and `has_more`. Only the rows that remain are decompressed, converted and sent.
 * @param alias of the item; the statement ends with `order by <alias>.page_row`
 * @param rows a select with an order and without a limit
 * @param limit the most rows: a parameter such as `$3`, or a number
 */
export function withinBytes(
  alias: string,
  rows: string,
  limit: string | number,
  large: LargeColumns,
  mostBytes = PAGE_BYTES,
): string {
  return `(select * from (
    select sized.*, row_number() over reading as page_row, lead(1) over reading is not null as has_more,
      sum(${bytesOf('sized', large)}) over reading as bytes_so_far
    from (${rows} limit ${limit}::int + 1) sized window reading as (rows between unbounded preceding and current row)) counted
   where page_row <= ${limit}::int and (page_row = 1 or bytes_so_far <= ${mostBytes})) ${alias}`;
}

/**
 * The size of the values when they are read, as SQL. It decompresses a value only if it is stored compressed, because
 * its stored size would not show what a reader gets.
 */
function bytesOf(alias: string, large: LargeColumns): string {
  const sizes = Object.entries(large).map(([name, type]) => {
    const column = `${alias}."${name}"`;
    // Postgres knows the length of a text without reading it.
    if (type === 'text') return `coalesce(octet_length(${column}), 0)`;
    return type === 'jsonb' ? sizeWhenRead(column, `pg_column_size(${column} #> '{}')`) : sizeWhenRead(column);
  });
  return `(${['0', ...sizes].join(' + ')})`;
}

/** @param whole the size of a value that is stored compressed, as SQL */
export function sizeWhenRead(column: string, whole = `octet_length(${column}::text)`): string {
  return `coalesce(case when pg_column_compression(${column}) is null then pg_column_size(${column}) else ${whole} end, 0)`;
}

/** Columns of `withinBytes` that are not of the rows. */
interface PageColumns {
  page_row?: unknown;
  has_more?: boolean;
  bytes_so_far?: unknown;
}

/** The rows of a statement with `withinBytes` that selects `has_more`. */
export function rowPage<T extends object>(found: readonly (T & PageColumns)[]): RowPage<T> {
  const hasMore = found[found.length - 1]?.has_more ?? false;
  const rows = found.map(({ page_row: _row, has_more: _more, bytes_so_far: _bytes, ...row }) => row as unknown as T);
  return { rows, hasMore };
}

/** A page of a table: its rows, their order, and the columns that are read. */
export interface PageOptions<E> {
  /** Several are alternatives. */
  where: FindOptionsWhere<E> | FindOptionsWhere<E>[];
  order: FindOptionsOrder<E>;
  /** The most rows. */
  limit: number;
  /** The column that distinguishes the rows of `where`; `id` by default. */
  key?: string & keyof E;
  select?: FindOptionsSelect<E>;
}

/**
 * Finds the first rows of a table that fit into `PAGE_BYTES`, at least one. The first statement measures the rows and
 * returns their keys, the second one reads the rows with these keys.
 * @param find reads the rows; a plain `find` by default
 */
export async function findPage<E extends ObjectLiteral, Row extends object = E>(
  tx: Tx,
  entity: new () => E,
  { where, order, limit, key = 'id' as string & keyof E, select }: PageOptions<E>,
  find: (options: FindManyOptions<E>) => Promise<Row[]> = (options) =>
    tx.repository(entity).find(options) as unknown as Promise<Row[]>,
): Promise<RowPage<Row>> {
  const repository = tx.repository(entity);
  const columns = readColumns(repository.metadata, select).filter(({ propertyName }) => propertyName !== key);
  const measured = repository.createQueryBuilder('r').setFindOptions({ where, order }).select(`r.${key}`, 'page_key');
  for (const { propertyName, databaseName } of columns) measured.addSelect(`r.${propertyName}`, `of_${databaseName}`);
  const [text, values] = measured.getQueryAndParameters();
  const large = Object.fromEntries(columns.map((column) => [`of_${column.databaseName}`, sizeOf(column)]));
  const statement = `select page.page_key, page.has_more from ${withinBytes('page', text, limit, large)} order by page.page_row`;
  const { rows: keys, hasMore } = rowPage(await tx.query<{ page_key: unknown }>(statement, values as unknown[]));
  if (keys.length === 0) return { rows: [], hasMore };
  const chosen = { [key]: In(keys.map((row) => row.page_key)) };
  const among = (Array.isArray(where) ? where : [where]).map((one) => ({ ...(one as object), ...chosen }));
  return { rows: await find({ where: among as FindOptionsWhere<E>[], order, ...(select && { select }) }), hasMore };
}

/** The columns of variable size that a `find` reads. */
function readColumns(metadata: EntityMetadata, select: object | undefined): EntityMetadata['columns'] {
  const isRead = (name: string, byDefault: boolean) =>
    select === undefined ? byDefault : (select as Record<string, unknown>)[name] === true;
  return metadata.columns.filter((column) => {
    const { type, isArray, isSelect, propertyName } = column;
    const isLarge = isArray || type === 'text' || type === 'jsonb' || type === 'json' || type === 'bytea';
    return isLarge && isRead(propertyName, isSelect);
  });
}

function sizeOf({ type, isArray }: EntityMetadata['columns'][number]): LargeColumns[string] {
  if (isArray) return 'other';
  return type === 'jsonb' || type === 'text' ? type : 'other';
}
