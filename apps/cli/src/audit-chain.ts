import { createHash } from 'node:crypto';
import type { AuditChainLink, Schemas } from '@slipway/sdk';
import { CliError } from './exit-codes.js';
import type { CommandInput } from './nouns/verb.js';
import type { Session } from './session.js';

type AuditRow = Schemas['AuditRowDto'] & { sequence: number };

/**
 * Recomputes the hashes as the api's document describes them. This detects a changed or removed row. Only a
 * head that was kept elsewhere can prove that no rows were cut off the end. Seals need the key of the
 * workers: `npm run audit-verify` checks them.
 */
export async function verifyAudit(session: Session, { flags, options }: CommandInput): Promise<void> {
  const client = await session.client();
  const chains = new Map<string, AuditRow[]>();
  let unsealed = 0;
  for await (const row of client.audit.list({ ...options, limit: 100 })) {
    if (!isSealed(row)) {
      unsealed += 1;
      continue;
    }
    const chain = chains.get(row.tenant_id) ?? [];
    chain.push(row);
    chains.set(row.tenant_id, chain);
  }
  const report = [];
  for (const [tenant_id, rows] of chains)
    report.push({ tenant_id, ...(await verifyChain(rows)), unsealed, verified: true });
  const { expectHead } = flags as { expectHead?: string };
  if (expectHead && !isKept(expectHead, [...chains.values()].flat()))
    throw new CliError(`The head ${expectHead} is not in the list: its last rows were removed or replaced.`);
  const columns = ['tenant_id', 'sequence', 'hash', 'unsealed', 'verified'];
  await session.output.print(report, { name: 'hash', columns: columns.map((of) => ({ title: of.toUpperCase(), of })) });
}

const isSealed = (row: Schemas['AuditRowDto']): row is AuditRow => row.sequence !== null;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * @throws a CliError that names the first row that was changed, or else the first that is
 * missing or does not follow its predecessor
 */
async function verifyChain(rows: readonly AuditRow[]): Promise<AuditChainLink> {
  const { checkAuditRows } = await import('@slipway/sdk');
  const { marks, missing, head } = await checkAuditRows(rows, { sha256, isWhole: true });
  const changed = rows.find(({ id }) => marks.get(id) === 'changed');
  if (changed) throw new CliError(`Row ${changed.sequence} (${changed.id}) was changed after it was sealed.`);
  const unlinked = rows.filter(({ id }) => marks.get(id) !== 'linked').map(({ sequence }) => sequence);
  const first = unlinked.reduce((one, other) => Math.min(one, other), Infinity);
  if (missing[0] !== undefined && missing[0] < first) throw new CliError(`Row ${missing[0]} is missing.`);
  if (unlinked.length > 0) throw new CliError(`Row ${first} does not follow row ${first - 1}.`);
  return head!;
}

function isKept(head: string, rows: readonly AuditRow[]): boolean {
  const [sequence, hash] = head.split(':');
  return rows.some((row) => row.sequence === Number(sequence) && row.hash === hash);
}
