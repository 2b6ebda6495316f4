import type { Publication } from '../../api/items.js';

/** A binding's share of the next version, as its fields hold it. */
export interface Share {
  isNamed: boolean;
  weight: string;
  priority: string;
}

/** The published shares stay; without a publication, the newest binding gets everything. */
export function firstShares(ids: readonly string[], current: Publication | undefined): Record<string, Share> {
  const named = new Map(current?.bindings.map((share) => [share.binding_id, share]));
  const goesOn = ids.some((id) => named.has(id));
  return Object.fromEntries(
    ids.map((id, index) => {
      const share = named.get(id);
      return [
        id,
        {
          isNamed: goesOn ? share !== undefined : index === 0,
          weight: String(share?.weight ?? 1),
          priority: String(share?.priority ?? 0),
        },
      ];
    }),
  );
}

/** The bindings of the next version. An invalid number is sent as it was typed, so that the schema refuses it. */
export function namedShares(shares: Readonly<Record<string, Share>>) {
  return Object.entries(shares)
    .filter(([, { isNamed }]) => isNamed)
    .map(([binding_id, { weight, priority }]) => ({
      binding_id,
      weight: numberOf(weight),
      priority: numberOf(priority),
    }));
}

const numberOf = (text: string): number =>
  (text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)) as number;
