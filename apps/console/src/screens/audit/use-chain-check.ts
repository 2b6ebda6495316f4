import { useEffect, useState } from 'react';
import { checkAuditRows, type AuditChainCheck } from '@slipway/sdk';
import type { AuditRow } from '../../api/items.js';

/** Without encryption there is no `subtle`, whatever its type says. */
export const canCheck = (): boolean => Boolean((crypto as Partial<Crypto>).subtle);

/** What the browser makes of the rows loaded; what it made of those before stays until then. */
export function useChainCheck(rows: AuditRow[] | undefined, isWhole: boolean): AuditChainCheck | undefined {
  const [check, setCheck] = useState<AuditChainCheck>();
  useEffect(() => {
    if (!rows || !canCheck()) return undefined;
    let isCurrent = true;
    void checkAuditRows(rows, { sha256, isWhole }).then((made) => isCurrent && setCheck(made));
    return () => {
      isCurrent = false;
    };
  }, [rows, isWhole]);
  return rows && check;
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
