import type { Database } from '@slipway/platform-database';
import { IsNull, MoreThan, Not } from 'typeorm';
import { GENESIS, objectionTo, type Link } from './audit-chain.js';
import { auditRows, type AuditRow } from './audit-rows.js';
import { CHAINS, type ChainEnd } from './audit.query.js';

const PAGE = 1_000;

/** The first thing that is wrong with a chain. */
export interface Break {
  sequence: number;
  /** Null if the row is not there. */
  id: string | null;
  problem: string;
}

/** What was found out about one tenant's chain. */
export interface ChainReport {
  tenantId: string;
  tenantName: string;
  /** Rows whose hashes hold, from the first one on. */
  verified: Link;
  /** Rows not in the chain yet: those of the last second or so, while a worker runs. */
  unsealed: number;
  broken?: Break;
}

/**
 * Recomputes the chains of all tenants, or of the one with this name or id; empty if there is no such tenant. Reads
 * only, page by page, and may run beside sealers.
 */
export async function verifyAudit(database: Database, tenant?: string): Promise<ChainReport[]> {
  const ends = await database.read<ChainEnd>('system', CHAINS, [tenant ?? null]);
  const reports: ChainReport[] = [];
  for (const end of ends) reports.push(await verifyChain(database, end));
  return reports;
}

async function verifyChain(database: Database, end: ChainEnd): Promise<ChainReport> {
  const report = { tenantId: end.tenant_id, tenantName: end.tenant_name, unsealed: end.unsealed };
  const head: Link = { sequence: end.head_sequence ?? 0, hash: end.head_hash ?? GENESIS };
  const last = end.last_sequence ?? 0;
  let link: Link = { sequence: 0, hash: GENESIS };
  let after: number | undefined;
  for (;;) {
    const rows: AuditRow[] = await sealedAfter(database, end.tenant_id, after);
    for (const row of rows) {
      // What was sealed since the ends were read is not judged by them.
      if (row.sequence! > Math.max(head.sequence, last))
        return { ...report, verified: link, broken: endObjection(link, head, last) };
      const problem = objectionTo(row, link);
      if (problem) return { ...report, verified: link, broken: { sequence: row.sequence!, id: row.id, problem } };
      link = { sequence: row.sequence!, hash: row.hash! };
      if (link.sequence === head.sequence && link.hash !== head.hash) {
        return {
          ...report,
          verified: link,
          broken: { sequence: link.sequence, id: row.id, problem: 'the stored head of the chain has another hash' },
        };
      }
      after = link.sequence;
    }
    if (rows.length < PAGE) return { ...report, verified: link, broken: endObjection(link, head, last) };
  }
}

/** The first page has every sequence there can be: a row with one of 0 or less was not sealed by us. */
function sealedAfter(database: Database, tenantId: string, sequence: number | undefined): Promise<AuditRow[]> {
  return database.tx('system', (tx) =>
    auditRows(tx, {
      where: { tenant_id: tenantId, sequence: sequence === undefined ? Not(IsNull()) : MoreThan(sequence) },
      order: { sequence: 'ASC' },
      take: PAGE,
    }),
  );
}

function endObjection(link: Link, head: Link, last: number): Break | undefined {
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
      problem: `the stored head of the chain stands before it, at ${head.sequence}`,
    };
  return undefined;
}
