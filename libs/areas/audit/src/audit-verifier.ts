import { FIRST_AUDIT_HASH, type AuditChainLink } from '@slipway/contracts';
import type { Database, RowPage } from '@slipway/platform-database';
import { IsNull, MoreThanOrEqual, Not } from 'typeorm';
import { objectionTo } from './audit-chain.js';
import type { AuditKeys } from './audit-keys.js';
import { auditPage, type AuditRow } from './audit-rows.js';
import { CHAINS, type ChainEnd } from './audit.query.js';
import { headText, type ExpectedHead } from './expected-heads.js';

const PAGE = 1_000;

/** The first error in a chain. */
export interface Break {
  sequence: number;
  /** Null if the row is not there. */
  id: string | null;
  problem: string;
}

/** The result for one tenant's chain. */
export interface ChainReport {
  tenantId: string;
  tenantName: string;
  /** The last of the rows whose hashes hold, counted from the first one. */
  verified: AuditChainLink;
  /** Number of rows that are not in the chain yet: those of about the last second, while a worker runs. */
  unsealed: number;
  broken?: Break;
}

export interface VerifyOptions {
  /** Name or id; all tenants if unset. */
  tenant?: string;
  /** Heads that were kept outside the database: each must be in its chain, unchanged. */
  expected?: readonly ExpectedHead[];
}

/**
 * Recomputes the chains of all tenants, or of one. Returns an empty list if there is no such tenant. It only reads,
 * page by page, and may run concurrently with sealers.
 */
export async function verifyAudit(
  database: Database,
  keys: AuditKeys,
  { tenant, expected = [] }: VerifyOptions = {},
): Promise<ChainReport[]> {
  const ends = await database.read<ChainEnd>('system', CHAINS, [tenant ?? null]);
  const reports: ChainReport[] = [];
  for (const end of ends) reports.push(await verifyChain(database, keys, end, expected.filter(isOf(end))));
  if (tenant !== undefined) return reports;
  const orphans = expected.filter((head) => !ends.some((end) => isOf(end)(head)));
  return [...reports, ...orphans.map(missingChain)];
}

function isOf({ tenant_id, tenant_name }: ChainEnd): (head: ExpectedHead) => boolean {
  return ({ tenant }) => tenant === tenant_id || tenant === tenant_name;
}

function missingChain({ tenant, sequence, hash }: ExpectedHead): ChainReport {
  const problem = `the head ${hash} is expected here, but the tenant does not exist`;
  const broken = { sequence, id: null, problem };
  return {
    tenantId: tenant,
    tenantName: tenant,
    verified: { sequence: 0, hash: FIRST_AUDIT_HASH },
    unsealed: 0,
    broken,
  };
}

async function verifyChain(
  database: Database,
  keys: AuditKeys,
  end: ChainEnd,
  expected: readonly ExpectedHead[],
): Promise<ChainReport> {
  const walk = new ChainWalk(keys, end, expected);
  let after: AuditRow | undefined;
  for (;;) {
    const { rows, hasMore }: RowPage<AuditRow> = await sealedAfter(database, end.tenant_id, after);
    for (const row of rows) {
      // The ends read earlier cannot judge rows that were sealed since.
      if (walk.isBeyond(row)) return walk.end();
      const problem = walk.take(row);
      if (problem) return walk.report({ sequence: row.sequence!, id: row.id, problem });
      after = row;
    }
    if (!hasMore) return walk.end();
  }
}

/** Judges one chain, row by row from its beginning. */
class ChainWalk {
  private link: AuditChainLink & { isSealed: boolean } = { sequence: 0, hash: FIRST_AUDIT_HASH, isSealed: false };
  private readonly head: AuditChainLink;
  private readonly last: number;
  /** The last row without a seal, from the time before there were keys. */
  private unkeyed: (AuditChainLink & { id: string }) | undefined;
  private readonly expectedAt = new Map<number, string[]>();
  private furthestExpected = -1;

  constructor(
    private readonly keys: AuditKeys,
    private readonly chain: ChainEnd,
    expected: readonly ExpectedHead[],
  ) {
    this.head = { sequence: chain.head_sequence ?? 0, hash: chain.head_hash ?? FIRST_AUDIT_HASH };
    this.last = chain.last_sequence ?? 0;
    for (const { sequence, hash } of expected) {
      this.expectedAt.set(sequence, [...(this.expectedAt.get(sequence) ?? []), hash]);
      this.furthestExpected = Math.max(this.furthestExpected, sequence);
    }
  }

  isBeyond(row: AuditRow): boolean {
    return row.sequence! > Math.max(this.head.sequence, this.last);
  }

  /** Returns the error in the next row; undefined if the row continues the chain. */
  take(row: AuditRow): string | undefined {
    const problem = objectionTo(row, this.link, this.keys);
    if (problem) return problem;
    this.link = { sequence: row.sequence!, hash: row.hash!, isSealed: row.seal !== null };
    if (!this.link.isSealed) this.unkeyed = { ...this.link, id: row.id };
    if (this.link.sequence === this.head.sequence && this.link.hash !== this.head.hash)
      return 'the stored head of the chain has a different hash';
    const other = this.expectedAt.get(this.link.sequence)?.find((hash) => hash !== this.link.hash);
    return other && `the head ${other} is expected here: the chain was rewritten at or before this row`;
  }

  end(): ChainReport {
    return this.report(endObjection(this.link, this.head, this.last) ?? this.cutOff() ?? this.notVouchedFor());
  }

  report(broken?: Break): ChainReport {
    const { tenant_id: tenantId, tenant_name: tenantName, unsealed } = this.chain;
    const verified = { sequence: this.link.sequence, hash: this.link.hash };
    return { tenantId, tenantName, unsealed, verified, ...(broken && { broken }) };
  }

  private cutOff(): Break | undefined {
    const furthest = this.furthestExpected;
    if (furthest <= this.link.sequence) return undefined;
    const problem = `the chain ends at row ${this.link.sequence}, but a head is expected at row ${furthest}: its end was cut off`;
    return { sequence: this.link.sequence + 1, id: null, problem };
  }

  /**
   * A row without a seal proves nothing against the owner of the database, unless a head kept elsewhere is at that row
   * or after it.
   */
  private notVouchedFor(): Break | undefined {
    if (!this.unkeyed || this.furthestExpected >= this.unkeyed.sequence) return undefined;
    const { sequence, id, hash } = this.unkeyed;
    const head = headText({ tenant: this.chain.tenant_id, sequence, hash });
    const problem = `rows 1 to ${sequence} have no seal: they are older than the seals, or were rewritten. If you trust this head, pass --expect-head ${head}`;
    return { sequence, id, problem };
  }
}

/**
 * The first page has every possible sequence: a row with a sequence of 0 or less was not sealed by Slipway. Later ones
 * begin with the sequence of the last row, because another row may have it if the constraint of the table is gone.
 */
function sealedAfter(database: Database, tenantId: string, last: AuditRow | undefined): Promise<RowPage<AuditRow>> {
  const rest = last && { sequence: MoreThanOrEqual(last.sequence!), id: Not(last.id) };
  return database.tx('system', (tx) =>
    auditPage(tx, {
      where: { tenant_id: tenantId, sequence: Not(IsNull()), ...rest },
      order: { sequence: 'ASC' },
      limit: PAGE,
    }),
  );
}

function endObjection(link: AuditChainLink, head: AuditChainLink, last: number): Break | undefined {
  if (link.sequence < head.sequence)
    return {
      sequence: link.sequence + 1,
      id: null,
      problem: `rows ${link.sequence + 1} to ${head.sequence} are missing at the end`,
    };
  if (last > head.sequence)
    return {
      sequence: head.sequence + 1,
      id: null,
      problem: `the stored head of the chain is before this row, at row ${head.sequence}`,
    };
  return undefined;
}
