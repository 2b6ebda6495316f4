import { describe, expect, it } from '@jest/globals';
import type { Publication } from '../../api/items.js';
import { firstShares, namedShares } from './publication-form.js';

const current = { bindings: [{ binding_id: 'bnd_1', weight: 90, priority: 2 }] } as Publication;

describe('the next version', () => {
  it('begins like the published one', () => {
    expect(firstShares(['bnd_2', 'bnd_1'], current)).toEqual({
      bnd_2: { isNamed: false, weight: '1', priority: '0' },
      bnd_1: { isNamed: true, weight: '90', priority: '2' },
    });
  });

  it('begins with the newest binding if no published one is left', () => {
    expect(firstShares(['bnd_3', 'bnd_2'], current)).toMatchObject({
      bnd_3: { isNamed: true },
      bnd_2: { isNamed: false },
    });
    expect(firstShares(['bnd_3'], undefined)).toMatchObject({ bnd_3: { isNamed: true } });
  });

  it('names the chosen bindings, and leaves invalid numbers for the schema to refuse', () => {
    const shares = firstShares(['bnd_2', 'bnd_1'], current);
    expect(namedShares(shares)).toEqual([{ binding_id: 'bnd_1', weight: 90, priority: 2 }]);
    expect(namedShares({ bnd_1: { isNamed: true, weight: '', priority: 'x' } })).toEqual([
      { binding_id: 'bnd_1', weight: '', priority: 'x' },
    ]);
  });
});
