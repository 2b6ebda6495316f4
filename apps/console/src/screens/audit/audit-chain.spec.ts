import { beforeAll, describe, expect, it } from '@jest/globals';
import type { AuditRow } from '../../api/items.js';
import { checkChain, hashOf } from './audit-chain.js';

const ROW = {
  tenant_id: 'ten_1',
  at: '2026-11-23T18:23:57.436194Z',
  actor: 'token:tok_boot',
  action: 'rollout.create',
  resource_type: 'deployment',
  resource_name: 'chat',
  request_id: null,
  before_digest: null,
  after_digest: 'ab',
};

async function chainOf(length: number): Promise<AuditRow[]> {
  const rows: AuditRow[] = [];
  let previous_hash = '0'.repeat(64);
  for (let sequence = 1; sequence <= length; sequence += 1) {
    const row: AuditRow = { ...ROW, id: `aud_${sequence}`, sequence, previous_hash, hash: null };
    row.hash = previous_hash = await hashOf(row);
    rows.unshift(row);
  }
  return rows;
}

let rows: AuditRow[];
beforeAll(async () => {
  rows = await chainOf(4);
});

const marksOf = async (given: AuditRow[], isWhole = false) =>
  [...(await checkChain(given, isWhole)).marks.values()].join(' ');

describe('the hash of a row', () => {
  it('is the one that the api made of a real row', async () => {
    const real: AuditRow = {
      id: 'aud_01a209a683f87fb8831013945bc917a5',
      tenant_id: 'ten_01a2099d9ef073f59149117c8c2438cf',
      at: '2026-11-23T18:23:57.436194Z',
      actor: 'token:tok_0886enij17n8',
      action: 'rollout.create',
      resource_type: 'deployment',
      resource_name: 'cd-chat',
      request_id: 'req_992dbccc1c6f457183f1bdc895a44aac',
      before_digest: null,
      after_digest: '988e9286f0acfc98fb0b3faf9741c7be39722dee04b347e9169eb03ce506f4da',
      sequence: 8,
      previous_hash: '62663f26143e6bd77c04c5e9e4cbdd36e86cb4ee245159cc57a7398ed049c19d',
      hash: 'db816d2125a9f4f590af450f686f8e7b8854b15c3dbdb2e0d114aa6687ae4875',
    };
    expect(await hashOf(real)).toBe(real.hash);
  });
});

describe('a chain', () => {
  it('is linked from its first row to its head', async () => {
    const check = await checkChain(rows, true);
    expect(check).toMatchObject({ counts: { linked: 4 }, missing: [], head: { sequence: 4, hash: rows[0]!.hash } });
  });

  it('of which a page is loaded leaves open what its last row follows', async () =>
    expect(await marksOf(rows.slice(0, 2))).toBe('linked intact'));

  it('shows the row that was changed', async () => {
    const [a, b, c, d] = rows as [AuditRow, AuditRow, AuditRow, AuditRow];
    expect(await marksOf([a, b, { ...c, actor: 'token:tok_mallory' }, d])).toBe('linked linked changed linked');
  });

  it('shows where a row was changed and its hash made to fit', async () => {
    const [a, b, c, d] = rows as [AuditRow, AuditRow, AuditRow, AuditRow];
    const forged = { ...c, actor: 'token:tok_mallory' };
    forged.hash = await hashOf(forged);
    expect(await marksOf([a, b, forged, d])).toBe('linked unfitting linked linked');
  });

  it('shows a first row that follows something', async () => {
    const first = { ...rows[3]!, previous_hash: 'f'.repeat(64) };
    first.hash = await hashOf(first);
    expect(await marksOf([first])).toBe('unfitting');
  });

  it('shows two rows at one place', async () => {
    const twin = { ...rows[0]!, id: 'aud_twin' };
    twin.hash = await hashOf(twin);
    expect(await marksOf([twin, rows[0]!])).toMatch(/unfitting/);
  });

  it('misses a row only where all were read', async () => {
    const holed = rows.filter(({ sequence }) => sequence !== 2);
    expect((await checkChain(holed, true)).missing).toEqual([2]);
    expect((await checkChain(holed, false)).missing).toEqual([]);
    expect(await marksOf(holed)).toBe('linked intact linked');
  });

  it('does not count to the end of the numbers', async () => {
    const far: AuditRow = { ...rows[0]!, sequence: Number.MAX_SAFE_INTEGER };
    expect((await checkChain([far], true)).missing).toHaveLength(20);
  });

  it('waits for rows that are not sealed yet', async () =>
    expect(await marksOf([{ ...rows[0]!, sequence: null, previous_hash: null, hash: null }])).toBe('unsealed'));

  it('keeps tenants apart', async () => {
    const other = { ...rows[3]!, id: 'aud_other', tenant_id: 'ten_2' };
    other.hash = await hashOf(other);
    expect(await marksOf([...rows, other])).toBe('linked linked linked linked linked');
  });
});
