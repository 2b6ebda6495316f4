import type { AuditRow } from '../../api/items.js';

/** What the first row of a chain follows. */
const GENESIS = '0'.repeat(64);

/**
 * What is known of a row. `linked`: its content fits its hash, and the row before it is loaded and is the one it follows. `intact`: its
 * content fits, the row before is not loaded. `unsealed`: it has no hash yet. `changed`, `unfitting`: its content, or what it follows,
 * is not what its hash was made of.
 */
export type RowMark = 'linked' | 'intact' | 'unsealed' | 'changed' | 'unfitting';

export interface ChainCheck {
  marks: ReadonlyMap<string, RowMark>;
  counts: Readonly<Record<RowMark, number>>;
  /** Sequences that no row of a list that was read to its end has. */
  missing: number[];
  /** The newest sealed row, to be kept elsewhere. */
  head: { sequence: number; hash: string } | null;
}

/** A gap that somebody made is told by its first rows. */
const MOST_MISSING = 20;

/**
 * Recomputes what the api's document says of the rows given. Filters and pages leave gaps, so a missing row counts only where
 * `isWhole` says that all rows there are were given.
 */
export async function checkChain(rows: readonly AuditRow[], isWhole: boolean): Promise<ChainCheck> {
  const hashes = await Promise.all(rows.map(hashOf));
  const chain = new Map(rows.filter(isSealed).map((row) => [placeOf(row.tenant_id, row.sequence), row.hash]));
  const marks = new Map(rows.map((row, index) => [row.id, markOf(row, hashes[index]!, chain)]));
  const counts = { linked: 0, intact: 0, unsealed: 0, changed: 0, unfitting: 0 };
  for (const mark of marks.values()) counts[mark] += 1;
  const newest = rows
    .filter(isSealed)
    .reduce<(typeof rows)[number] | null>((a, b) => (a && a.sequence! > b.sequence ? a : b), null);
  return {
    marks,
    counts,
    missing: isWhole ? missingOf(rows.filter(isSealed)) : [],
    head: newest && { sequence: newest.sequence!, hash: newest.hash! },
  };
}

type Sealed = AuditRow & { sequence: number; hash: string };
const isSealed = (row: AuditRow): row is Sealed => row.sequence !== null && row.hash !== null;
const placeOf = (tenant: string, sequence: number): string => `${tenant} ${sequence}`;

function markOf(row: AuditRow, hash: string, chain: ReadonlyMap<string, string>): RowMark {
  if (!isSealed(row)) return 'unsealed';
  if (row.hash !== hash) return 'changed';
  const before = row.sequence === 1 ? GENESIS : chain.get(placeOf(row.tenant_id, row.sequence - 1));
  // A second row at the same place has taken this one's.
  if (chain.get(placeOf(row.tenant_id, row.sequence)) !== row.hash) return 'unfitting';
  if (before === undefined) return 'intact';
  return row.previous_hash === before ? 'linked' : 'unfitting';
}

function missingOf(rows: readonly Sealed[]): number[] {
  const ends = new Map<string, number>();
  for (const { tenant_id, sequence } of rows) ends.set(tenant_id, Math.max(ends.get(tenant_id) ?? 0, sequence));
  const there = new Set(rows.map(({ tenant_id, sequence }) => placeOf(tenant_id, sequence)));
  const missing: number[] = [];
  for (const [tenant, end] of ends)
    // A sequence is the api's to give: an absurd one must not keep the browser counting.
    for (let sequence = 1; sequence < end && missing.length < MOST_MISSING; sequence += 1)
      if (!there.has(placeOf(tenant, sequence))) missing.push(sequence);
  return missing;
}

/** Canonical JSON (RFC 8785) of a row whose values are texts, whole numbers and null is JSON with sorted keys. */
export async function hashOf({ hash: _, previous_hash: previous, ...content }: AuditRow): Promise<string> {
  const sorted = Object.fromEntries(Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1)));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(previous + JSON.stringify(sorted)));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
