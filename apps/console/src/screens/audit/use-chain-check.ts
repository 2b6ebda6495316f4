import { useEffect, useState } from 'react';
import type { AuditRow } from '../../api/items.js';
import { checkChain, type ChainCheck } from './audit-chain.js';

/** Without encryption there is no `subtle`, whatever its type says. */
export const canCheck = (): boolean => Boolean((crypto as Partial<Crypto>).subtle);

/** What the browser makes of the rows loaded; what it made of those before stays until then. */
export function useChainCheck(rows: AuditRow[] | undefined, isWhole: boolean): ChainCheck | undefined {
  const [check, setCheck] = useState<ChainCheck>();
  useEffect(() => {
    if (!rows || !canCheck()) return undefined;
    let isCurrent = true;
    void checkChain(rows, isWhole).then((made) => isCurrent && setCheck(made));
    return () => {
      isCurrent = false;
    };
  }, [rows, isWhole]);
  return rows && check;
}
