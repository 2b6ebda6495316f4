import { describe, expect, it } from '@jest/globals';
import type { Publication } from './flow.js';
import { firstShares, publicationBody } from './publication-form.js';

const current = { bindings: [{ binding_id: 'bnd_1', weight: 90, priority: 2 }] } as Publication;

describe('the next version', () => {
  it('begins as the one that is published', () => {
    expect(firstShares(['bnd_2', 'bnd_1'], current)).toEqual({
      bnd_2: { isNamed: false, weight: '1', priority: '0' },
      bnd_1: { isNamed: true, weight: '90', priority: '2' },
    });
  });

  it('begins with the newest binding where none of those that are published is left', () => {
    expect(firstShares(['bnd_3', 'bnd_2'], current)).toMatchObject({
      bnd_3: { isNamed: true },
      bnd_2: { isNamed: false },
    });
    expect(firstShares(['bnd_3'], undefined)).toMatchObject({ bnd_3: { isNamed: true } });
  });

  const fields = {
    shares: firstShares(['bnd_2', 'bnd_1'], current),
    visibility: 'tenant' as const,
    tenants: 'ten_1, ten_2',
    notes: ' why ',
  };

  it('names those that were chosen', () => {
    expect(publicationBody('prd_1', fields, true)).toEqual({
      product_id: 'prd_1',
      bindings: [{ binding_id: 'bnd_1', weight: 90, priority: 2 }],
      audience: { visibility: 'tenant', tenants: ['ten_1', 'ten_2'] },
      notes: 'why',
    });
  });

  it('lists no tenants where every one is meant, and has no audience of those who may not choose it', () => {
    expect(publicationBody('prd_1', { ...fields, visibility: 'shared' }, true).audience).toEqual({
      visibility: 'shared',
    });
    expect(publicationBody('prd_1', fields, false)).not.toHaveProperty('audience');
  });
});
