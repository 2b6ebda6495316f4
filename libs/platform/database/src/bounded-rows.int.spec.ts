import 'reflect-metadata';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Column, Entity, MoreThan, PrimaryColumn } from 'typeorm';
import { findPage, migrations, PAGE_BYTES, prepared, rowPage, withinBytes, type RowPage, type Tx } from './index.js';
import { DatabaseBed } from './testing/database-bed.js';

@Entity({ name: 'fat_rows' })
class FatRowEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'jsonb', nullable: true })
  document: unknown;

  @Column({ type: 'text', nullable: true })
  note: string | null;

  @Column({ type: 'text', array: true, default: [] })
  tags: string[];
}

const LIST = prepared(
  't-fat-rows',
  `select p.id, p.document, p.note, p.has_more from ${withinBytes(
    'p',
    'select * from fat_rows where tenant_id = $1 and id > $2 order by id',
    '$3',
    { document: 'jsonb', note: 'text', tags: 'other' },
  )} order by p.page_row`,
);

let bed: DatabaseBed;

beforeAll(async () => {
  bed = await DatabaseBed.start({ migrations });
  await bed.asOwner(`create table fat_rows (id text primary key, tenant_id text not null, document jsonb, note text, tags text[] not null default '{}');
    select slipway_tenant_table('fat_rows')`);
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(() => bed.asOwner('delete from fat_rows'));

type PageReader = (tx: Tx, after: string, limit: number) => Promise<RowPage<{ id: string }>>;

const READERS: Record<string, PageReader> = {
  'a statement': async (tx, after, limit) => rowPage(await tx.query<{ id: string }>(LIST, ['ten_a', after, limit])),
  'a find': (tx, after, limit) =>
    findPage(tx, FatRowEntity, { where: { tenant_id: 'ten_a', id: MoreThan(after) }, order: { id: 'ASC' }, limit }),
};

/** The ids of each page, from the first to the last. */
async function walk(read: PageReader, limit: number): Promise<string[][]> {
  const pages: string[][] = [];
  let after: string | undefined = '';
  while (after !== undefined && pages.length < 100) {
    const from: string = after;
    const { rows, hasMore } = await bed.database.tx('system', (tx) => read(tx, from, limit));
    pages.push(rows.map(({ id }) => id));
    after = hasMore ? rows.at(-1)!.id : undefined;
  }
  return pages;
}

const add = (values: string, count: number, first = 1) =>
  bed.asOwner(`insert into fat_rows (tenant_id, id, document, note, tags)
    select 'ten_a', to_char(n, 'FM0000'), ${values} from generate_series(${first}, ${first + count - 1}) n`);
const numbers = (count: number) => Array.from({ length: count }, (_one, index) => String(index + 1).padStart(4, '0'));
const sizes = (pages: string[][]) => pages.map(({ length }) => length);

/** 300,000 bytes that Postgres cannot compress much. */
const NOISE = `(select string_agg(md5(random()::text || n || i), '') from generate_series(1, 9375) i)`;

describe.each(Object.entries(READERS))('a page of %s', (_name, read) => {
  it('has as many rows as its limit if they are small, and says whether more follow', async () => {
    await add(`'{}', null, '{}'`, 120);
    expect(sizes(await walk(read, 50))).toEqual([50, 50, 20]);
    expect(sizes(await walk(read, 60))).toEqual([60, 60]);
    expect(sizes(await walk(read, 200))).toEqual([120]);
  });

  it.each([
    ['documents that compress well', `jsonb_build_object('a', repeat('x', 300000)), null, '{}'`],
    ['documents that do not compress', `to_jsonb(${NOISE}), null, '{}'`],
    ['texts', `null, repeat('x', 300000), '{}'`],
    ['arrays', `null, null, array_fill('long enough to be many bytes'::text, array[10000])`],
  ])('ends before its bytes exceed the bound: %s', async (_what, values) => {
    await add(values, 10);
    const pages = await walk(read, 200);
    expect(pages.flat()).toEqual(numbers(10));
    expect(sizes(pages)).toEqual([3, 3, 3, 1]);
  });

  it('has one row if that row alone is larger, wherever it is', async () => {
    await add(`'{}', null, '{}'`, 3);
    await add(`jsonb_build_object('a', repeat('x', ${3 * PAGE_BYTES})), null, '{}'`, 2, 4);
    await add(`'{}', null, '{}'`, 3, 6);
    const pages = await walk(read, 200);
    expect(pages.flat()).toEqual(numbers(8));
    expect(sizes(pages)).toEqual([3, 1, 1, 3]);
  });

  it('is empty if there is no row', async () => {
    expect(await walk(read, 200)).toEqual([[]]);
  });
});

it('a find counts only the columns that it reads, and returns rows as a plain find does', async () => {
  await add(`jsonb_build_object('a', repeat('x', 300000)), 'note', '{a,b}'`, 10);
  const options = { where: { tenant_id: 'ten_a' }, order: { id: 'ASC' }, limit: 200 } as const;
  await bed.database.tx('system', async (tx) => {
    const slim = await findPage(tx, FatRowEntity, { ...options, select: { id: true, note: true } });
    expect([slim.rows.length, slim.hasMore, slim.rows[0]!.document]).toEqual([10, false, undefined]);
    const { rows, hasMore } = await findPage(tx, FatRowEntity, options);
    expect(hasMore).toBe(true);
    const plain = await tx
      .repository(FatRowEntity)
      .find({ where: options.where, order: options.order, take: rows.length });
    expect(rows).toEqual(plain);
  });
});
