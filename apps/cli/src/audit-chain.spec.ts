import { createHash } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { runCommand } from '../test/run-command.js';

interface AuditRow {
  id: string;
  tenant_id: string;
  actor: string;
  sequence: number | null;
  previous_hash: string | null;
  hash: string | null;
}

const FIRST = '0'.repeat(64);

/** Computes the hash independently, as the OpenAPI document describes it. */
function hashOf({ id, tenant_id, actor, sequence, previous_hash }: AuditRow): string {
  const content = JSON.stringify({ actor, id, sequence, tenant_id });
  return createHash('sha256')
    .update(previous_hash + content)
    .digest('hex');
}

/** Newest rows first, as the api lists them. */
function chainOf(length: number): AuditRow[] {
  const rows: AuditRow[] = [];
  let previous_hash = FIRST;
  for (let sequence = 1; sequence <= length; sequence += 1) {
    const row = { id: `aud_${sequence}`, tenant_id: 'ten_1', actor: 'token:a', sequence, previous_hash, hash: '' };
    previous_hash = row.hash = hashOf(row);
    rows.unshift(row);
  }
  return rows;
}

const verify = (rows: AuditRow[], ...more: string[]) =>
  runCommand(['audit', 'verify', '--json', 'tenant_id,sequence,hash,unsealed,verified', ...more], {
    fetch: async () => Response.json({ data: rows, next_cursor: null }),
  });

it('verifies a complete chain and prints its head', async () => {
  const rows = chainOf(4);
  const unsealed = { ...rows[0]!, id: 'aud_5', sequence: null, previous_hash: null, hash: null };
  const { code, stdout } = await verify([unsealed, ...rows], '--expect-head', `3:${rows[1]!.hash}`);
  const head = { tenant_id: 'ten_1', sequence: 4, hash: rows[0]!.hash, unsealed: 1, verified: true };
  expect([code, JSON.parse(stdout)]).toEqual([0, [head]]);
});

it.each<[string, (rows: AuditRow[]) => AuditRow[], string]>([
  [
    'a row that was changed',
    (rows) => rows.map((row) => (row.sequence === 2 ? { ...row, actor: 'token:b' } : row)),
    'Row 2 (aud_2) was changed after it was sealed.',
  ],
  ['a row that is missing', (rows) => rows.filter(({ sequence }) => sequence !== 2), 'Row 2 is missing.'],
  ['rows that are missing at the beginning', (rows) => rows.slice(0, 1), 'Row 1 is missing.'],
  [
    'a row that was changed and hashed again',
    (rows) =>
      rows.map((row) => {
        if (row.sequence !== 2) return row;
        const forged = { ...row, actor: 'token:b' };
        return { ...forged, hash: hashOf(forged) };
      }),
    'Row 3 does not follow row 2.',
  ],
  [
    'a second row with the same sequence',
    ([newest, ...rows]) => {
      const forged = { ...newest!, id: 'aud_forged' };
      return [newest!, { ...forged, hash: hashOf(forged) }, ...rows];
    },
    'Row 4 does not follow row 3.',
  ],
])('reports %s', async (_what, change, message) => {
  const { code, stdout, stderr } = await verify(change(chainOf(4)));
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain(message);
});

it('refuses a list without the head that was kept', async () => {
  const head = `9:${'a'.repeat(64)}`;
  const { code, stderr } = await verify(chainOf(4), '--expect-head', head);
  expect(code).toBe(1);
  expect(stderr).toContain(`The head ${head} is not in the list: its last rows were removed or replaced.`);
});
