import type { Publication } from '../../api/items.js';

/** A binding's part of the next version, as its fields hold it. */
export interface Share {
  isNamed: boolean;
  weight: string;
  priority: string;
}

/** What is published goes on as it is; without a publication the newest binding gets all. */
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

/** What the next version names. What is no number goes as it was typed, for the schema to refuse. */
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
