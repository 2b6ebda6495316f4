import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  auditHashText,
  auditLinkFault,
  checkAuditRows,
  FIRST_AUDIT_HASH,
  type ChainedAuditRow,
} from './audit-chain.js';

type AuditRow = ChainedAuditRow & typeof ROW;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hashOf = (row: AuditRow): string => sha256(auditHashText(row));

const ROW = {
  tenant_id: 'ten_1',
  at: '2026-11-23T18:23:57.436194Z',
  actor: 'token:tok_boot',
  action: 'rollout.create',
  resource_type: 'deployment',
  resource_name: 'chat',
  request_id: null as string | null,
  before_digest: null as string | null,
  after_digest: 'ab',
};

function chainOf(length: number): AuditRow[] {
  const rows: AuditRow[] = [];
  let previous_hash = FIRST_AUDIT_HASH;
  for (let sequence = 1; sequence <= length; sequence += 1) {
    const row: AuditRow = { ...ROW, id: `aud_${sequence}`, sequence, previous_hash, hash: null };
    row.hash = previous_hash = hashOf(row);
    rows.unshift(row);
  }
  return rows;
}

let rows: AuditRow[];
beforeAll(() => {
  rows = chainOf(4);
});

const marksOf = async (given: AuditRow[], isWhole = false) =>
  [...(await checkAuditRows(given, { sha256, isWhole })).marks.values()].join(' ');

describe('the hash of a row', () => {
  it('equals the hash that the api made of a real row', () => {
    const real = {
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
    expect(sha256(auditHashText(real))).toBe(real.hash);
  });
});

describe('a chain', () => {
  it('is linked from its first row to its head', async () => {
    const check = await checkAuditRows(rows, { sha256, isWhole: true });
    expect(check).toMatchObject({ counts: { linked: 4 }, missing: [], head: { sequence: 4, hash: rows[0]!.hash } });
  });

  it('leaves open what its last row follows if only one page is loaded', async () =>
    expect(await marksOf(rows.slice(0, 2))).toBe('linked intact'));

  it('shows the row that was changed', async () => {
    const [a, b, c, d] = rows as [AuditRow, AuditRow, AuditRow, AuditRow];
    expect(await marksOf([a, b, { ...c, actor: 'token:tok_mallory' }, d])).toBe('linked linked changed linked');
  });

  it('shows a row that was changed and hashed again', async () => {
    const [a, b, c, d] = rows as [AuditRow, AuditRow, AuditRow, AuditRow];
    const forged = { ...c, actor: 'token:tok_mallory' };
    forged.hash = hashOf(forged);
    expect(await marksOf([a, b, forged, d])).toBe('linked unfitting linked linked');
  });

  it('shows a first row that follows something', async () => {
    const first = { ...rows[3]!, previous_hash: 'f'.repeat(64) };
    first.hash = hashOf(first);
    expect(await marksOf([first])).toBe('unfitting');
  });

  it('shows two rows with one sequence', async () => {
    const twin = { ...rows[0]!, id: 'aud_twin' };
    twin.hash = hashOf(twin);
    expect(await marksOf([twin, rows[0]!])).toMatch(/unfitting/);
  });

  it('reports a missing row only if all were read', async () => {
    const holed = rows.filter(({ sequence }) => sequence !== 2);
    expect((await checkAuditRows(holed, { sha256, isWhole: true })).missing).toEqual([2]);
    expect((await checkAuditRows(holed, { sha256, isWhole: false })).missing).toEqual([]);
    expect(await marksOf(holed)).toBe('linked intact linked');
  });

  it('stops counting when the server sends an absurd sequence', async () => {
    const far: AuditRow = { ...rows[0]!, sequence: Number.MAX_SAFE_INTEGER };
    expect((await checkAuditRows([far], { sha256, isWhole: true })).missing).toHaveLength(20);
  });

  it('waits for rows that are not sealed yet', async () =>
    expect(await marksOf([{ ...rows[0]!, sequence: null, previous_hash: null, hash: null }])).toBe('unsealed'));

  it('treats a row with a sequence and no hash as changed', async () =>
    expect(await marksOf([{ ...rows[0]!, hash: null }])).toBe('changed'));

  it('can be hashed asynchronously, as in browsers', async () => {
    const check = await checkAuditRows(rows, { sha256: async (text) => sha256(text), isWhole: true });
    expect(check.counts.linked).toBe(4);
  });

  it('keeps tenants apart', async () => {
    const other = { ...rows[3]!, id: 'aud_other', tenant_id: 'ten_2' };
    other.hash = hashOf(other);
    expect(await marksOf([...rows, other])).toBe('linked linked linked linked linked');
  });
});

describe('a row as the next one of a chain', () => {
  const previous = { sequence: 3, hash: 'a' };
  it.each([
    [4, 'a', undefined],
    [5, 'a', 'missing'],
    [3, 'a', 'misnumbered'],
    [0, 'a', 'misnumbered'],
    [4, 'b', 'unlinked'],
    [4, null, 'unlinked'],
  ])('with sequence %s after hash %s: %s', (sequence, previous_hash, fault) =>
    expect(auditLinkFault({ sequence, previous_hash }, previous)).toBe(fault),
  );
});
