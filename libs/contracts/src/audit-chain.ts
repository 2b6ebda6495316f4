// How audit rows are chained, and what they prove. The API's sealer and its `audit-verify`, the CLI and the console all
// use it, so it runs in browsers too. Callers pass SHA-256 in, because node:crypto computes it synchronously and
// WebCrypto does not.

/** `previous_hash` of the first row of a chain. */
export const FIRST_AUDIT_HASH = '0'.repeat(64);

/** The position of a row in its chain. */
export interface AuditChainLink {
  sequence: number;
  hash: string;
}

/**
 * A row as the API shows it. Its hash covers all its fields except the two hashes, including fields of a later version.
 */
export interface ChainedAuditRow {
  id: string;
  tenant_id: string;
  /** Null until the row is sealed. */
  sequence: number | null;
  previous_hash: string | null;
  hash: string | null;
}

/**
 * Returns the text whose SHA-256 is the hash of a row: the hash of the previous row and the canonical JSON (RFC 8785)
 * of the row without its two hashes. For texts, whole numbers and null, canonical JSON is JSON with sorted keys.
 */
export function auditHashText({ hash: _, previous_hash: previous, ...content }: ChainedAuditRow): string {
  const sorted = Object.fromEntries(Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1)));
  return previous + JSON.stringify(sorted);
}

/**
 * `missing`: a row between the two is missing. `misnumbered`: its sequence was already used. `unlinked`: it follows a
 * row with another hash.
 */
export type AuditLinkFault = 'missing' | 'misnumbered' | 'unlinked';

/** Returns the fault of a sealed row as the next one after `previous`; undefined if it continues the chain. */
export function auditLinkFault(
  { sequence, previous_hash }: Pick<ChainedAuditRow, 'sequence' | 'previous_hash'>,
  previous: AuditChainLink,
): AuditLinkFault | undefined {
  const expected = previous.sequence + 1;
  if (sequence !== expected) return sequence! > expected ? 'missing' : 'misnumbered';
  return previous_hash === previous.hash ? undefined : 'unlinked';
}

/** Returns whether the content of a sealed row differs from the content that its hash was computed from. */
export function isAuditRowChanged({ hash }: Pick<ChainedAuditRow, 'hash'>, computedHash: string): boolean {
  return hash !== computedHash;
}

/**
 * The result for one row. `linked`: its content fits its hash, and the previous row is given and is the one it follows.
 * `intact`: its content fits, and the previous row is not given. `unsealed`: it has no hash yet. `changed`,
 * `unfitting`: its content, or the row that it follows, differs from what its hash was computed from.
 */
export type AuditRowMark = 'linked' | 'intact' | 'unsealed' | 'changed' | 'unfitting';

export interface AuditChainCheck {
  /** By the id of the row. */
  marks: ReadonlyMap<string, AuditRowMark>;
  counts: Readonly<Record<AuditRowMark, number>>;
  /** Sequences that no row has, in a list that was read to its end. */
  missing: number[];
  /** The newest sealed row, to be kept elsewhere. */
  head: AuditChainLink | null;
}

export interface AuditCheckOptions {
  /** In hex. */
  sha256: (text: string) => string | Promise<string>;
  /** Whether the rows are complete. Filters and pages leave gaps, so a missing row counts only then. */
  isWhole: boolean;
}

/** The first sequences of a gap are enough to show it. */
const MAX_MISSING = 20;

/** Recomputes the chains of the given rows, which may be in any order and of several tenants. */
export async function checkAuditRows(
  rows: readonly ChainedAuditRow[],
  { sha256, isWhole }: AuditCheckOptions,
): Promise<AuditChainCheck> {
  const computed = await Promise.all(rows.map((row) => sha256(auditHashText(row))));
  const sealed = rows.filter(isSealed);
  const chain = new Map(sealed.map((row) => [keyOf(row.tenant_id, row.sequence), row.hash]));
  const marks = new Map(rows.map((row, index) => [row.id, markOf(row, computed[index]!, chain)]));
  const counts = { linked: 0, intact: 0, unsealed: 0, changed: 0, unfitting: 0 };
  for (const mark of marks.values()) counts[mark] += 1;
  const newest = sealed.reduce<SealedAuditRow | null>((a, b) => (a && a.sequence > b.sequence ? a : b), null);
  return {
    marks,
    counts,
    missing: isWhole ? missingSequences(sealed) : [],
    head: newest && { sequence: newest.sequence, hash: newest.hash },
  };
}

type SealedAuditRow = ChainedAuditRow & AuditChainLink;
const isSealed = (row: ChainedAuditRow): row is SealedAuditRow => row.sequence !== null && row.hash !== null;
const keyOf = (tenant: string, sequence: number): string => `${tenant} ${sequence}`;

function markOf(row: ChainedAuditRow, computedHash: string, chain: ReadonlyMap<string, string>): AuditRowMark {
  if (row.sequence === null) return 'unsealed';
  if (!isSealed(row) || isAuditRowChanged(row, computedHash)) return 'changed';
  // Another row has the same sequence and replaced this one.
  if (chain.get(keyOf(row.tenant_id, row.sequence)) !== row.hash) return 'unfitting';
  const sequence = row.sequence - 1;
  const hash = sequence === 0 ? FIRST_AUDIT_HASH : chain.get(keyOf(row.tenant_id, sequence));
  if (hash === undefined) return 'intact';
  return auditLinkFault(row, { sequence, hash }) ? 'unfitting' : 'linked';
}

function missingSequences(rows: readonly SealedAuditRow[]): number[] {
  const ends = new Map<string, number>();
  for (const { tenant_id, sequence } of rows) ends.set(tenant_id, Math.max(ends.get(tenant_id) ?? 0, sequence));
  const given = new Set(rows.map(({ tenant_id, sequence }) => keyOf(tenant_id, sequence)));
  const missing: number[] = [];
  for (const [tenant, end] of ends)
    // The server chooses the sequences: an absurd one must not keep the client counting.
    for (let sequence = 1; sequence < end && missing.length < MAX_MISSING; sequence += 1)
      if (!given.has(keyOf(tenant, sequence))) missing.push(sequence);
  return missing;
}
