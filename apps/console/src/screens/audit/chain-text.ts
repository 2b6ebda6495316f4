import type { AuditChainCheck } from '@slipway/sdk';

const rowsText = (count: number): string => (count === 1 ? '1 row' : `${count} rows`);

export function intactText({ counts: { linked, intact, unsealed } }: Pick<AuditChainCheck, 'counts'>): string {
  const parts = [`${rowsText(linked + intact)} verified`, `${linked} linked to the previous row`];
  if (unsealed > 0) parts.push(`${unsealed} not sealed yet`);
  return `${parts.join(', ')}.`;
}

export function faultText({
  counts: { changed, unfitting },
  missing,
}: Pick<AuditChainCheck, 'counts' | 'missing'>): string {
  const faults: string[] = [];
  if (changed > 0) faults.push(`${rowsText(changed)} changed after sealing`);
  if (unfitting > 0)
    faults.push(`${rowsText(unfitting)} ${unfitting === 1 ? 'does' : 'do'} not follow the previous row`);
  if (missing.length > 0) faults.push(`missing rows: ${missing.join(', ')}`);
  return `The audit log does not match its hashes: ${faults.join('; ')}.`;
}
