import { createHash } from 'node:crypto';
import type { Schemas } from '@slipway/sdk';
import { CliError } from './exit-codes.js';
import type { Given } from './nouns/verb.js';
import type { Session } from './session.js';

type Row = Schemas['AuditRowDto'];
type Link = Pick<Row, 'previous_hash' | 'hash'>;

/** What the first row of a chain follows. */
const GENESIS = '0'.repeat(64);

/**
 * Recomputes what the api's document says of its rows. It shows who changed or took out a row; that nobody cut off the end only a head can
 * show that was kept elsewhere. Seals need the key of the workers: `npm run audit-verify` looks at those.
 */
export async function verifyAudit(session: Session, { flags, options }: Given): Promise<void> {
  const client = await session.client();
  const chains = new Map<string, Map<number, Link>>();
  let unsealed = 0;
  for await (const row of client.audit.list({ ...options, limit: 100 })) {
    if (row.sequence === null) {
      unsealed += 1;
      continue;
    }
    if (row.hash !== hashOf(row))
      throw new CliError(`Row ${row.sequence} (${row.id}) was changed after it was sealed.`);
    const chain = chains.get(row.tenant_id) ?? new Map<number, Link>();
    chains.set(row.tenant_id, chain.set(row.sequence, row));
  }
  const report = [...chains].map(([tenant_id, chain]) => ({ tenant_id, ...headOf(chain), unsealed, verified: true }));
  const { expectHead } = flags as { expectHead?: string };
  if (expectHead && !isKept(expectHead, [...chains.values()]))
    throw new CliError(`The head ${expectHead} is not there: the end of the list was cut off, or made anew.`);
  const columns = ['tenant_id', 'sequence', 'hash', 'unsealed', 'verified'];
  await session.output.print(report, { name: 'hash', columns: columns.map((of) => ({ title: of.toUpperCase(), of })) });
}

/** @throws naming the first row that does not follow the one before it */
function headOf(chain: Map<number, Link>): { sequence: number; hash: string } {
  let hash = GENESIS;
  for (let sequence = 1; sequence <= chain.size; sequence += 1) {
    const row = chain.get(sequence);
    if (!row) throw new CliError(`Row ${sequence} is missing.`);
    if (row.previous_hash !== hash) throw new CliError(`Row ${sequence} does not follow row ${sequence - 1}.`);
    hash = row.hash!;
  }
  return { sequence: chain.size, hash };
}

function isKept(head: string, chains: Map<number, Link>[]): boolean {
  const [sequence, hash] = head.split(':');
  return chains.some((chain) => chain.get(Number(sequence))?.hash === hash);
}

/** Canonical JSON (RFC 8785) of a row whose values are texts, whole numbers and null is JSON with sorted keys. */
export function hashOf({ hash: _, previous_hash: previous, ...content }: Row): string {
  const sorted = Object.fromEntries(Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256')
    .update(previous + JSON.stringify(sorted))
    .digest('hex');
}
