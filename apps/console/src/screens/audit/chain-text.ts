import type { AuditChainCheck } from '@slipway/sdk';

const rowsText = (count: number): string => (count === 1 ? '1 row' : `${count} rows`);

export function intactText({ counts: { linked, intact, unsealed } }: Pick<AuditChainCheck, 'counts'>): string {
  const parts = [`${rowsText(linked + intact)} verified`, `${linked} linked to the row before`];
  if (unsealed > 0) parts.push(`${unsealed} not sealed yet`);
  return `${parts.join(', ')}.`;
}

export function faultText({
  counts: { changed, unfitting },
  missing,
}: Pick<AuditChainCheck, 'counts' | 'missing'>): string {
  const faults: string[] = [];
  if (changed > 0) faults.push(`${rowsText(changed)} changed after sealing`);
  if (unfitting > 0) faults.push(`${rowsText(unfitting)} that do not follow the row before`);
  if (missing.length > 0) faults.push(`missing: row ${missing.join(', ')}`);
  return `The record does not fit its hashes: ${faults.join('; ')}.`;
}
