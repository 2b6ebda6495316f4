import { wordsOf } from '../../ui/listed-text.js';
import type { Publication } from './flow.js';
import type { NewPublication } from './requests.js';

/** A binding's part of the next version, as its fields hold it. */
export interface Share {
  isNamed: boolean;
  weight: string;
  priority: string;
}

export interface PublicationFields {
  shares: Record<string, Share>;
  visibility: 'tenant' | 'shared';
  tenants: string;
  notes: string;
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

/** The audience is the operator tenant's to choose. */
export function publicationBody(product_id: string, fields: PublicationFields, isOperator: boolean): NewPublication {
  const { shares, visibility, notes } = fields;
  const tenants = wordsOf(fields.tenants);
  return {
    product_id,
    bindings: Object.entries(shares)
      .filter(([, { isNamed }]) => isNamed)
      .map(([binding_id, { weight, priority }]) => ({
        binding_id,
        weight: Number(weight),
        priority: Number(priority),
      })),
    ...(isOperator && { audience: { visibility, ...(visibility === 'tenant' && tenants.length > 0 && { tenants }) } }),
    ...(notes.trim() !== '' && { notes: notes.trim() }),
  };
}
