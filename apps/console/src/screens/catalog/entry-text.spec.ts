import { describe, expect, it } from '@jest/globals';
import type { CatalogEntry } from '../../api/items.js';
import { entryCurl, isMeant, priceText, pythonOf, tokensText } from './entry-text.js';

const entry = {
  slug: 'acme/chat',
  name: 'Acme Chat',
  description: 'Answers in prose',
  endpoint: { base_url: 'http://gw:7080/v1/', model: 'acme/chat' },
} as CatalogEntry;

describe('an entry of the catalog', () => {
  it('is found by every word that was typed', () => {
    expect(isMeant(entry, '')).toBe(true);
    expect(isMeant(entry, 'PROSE acme')).toBe(true);
    expect(isMeant(entry, 'acme verse')).toBe(false);
  });

  it('has a price, to the last digit', () => {
    expect(priceText({ currency: 'USD', input_per_mtok: 0.075, output_per_mtok: 3 })).toBe('$0.075 in, $3.00 out');
    expect(priceText({ currency: 'no currency', input_per_mtok: 1, output_per_mtok: 2 })).toBe(
      '1 no currency in, 2 no currency out',
    );
    expect(priceText(null)).toBe('not specified');
    expect(tokensText(131072)).toBe('131,072');
  });

  it('can be called by lines in which its texts stay quoted', () => {
    expect(entryCurl(entry)).toContain(`curl http://gw:7080/v1/chat/completions`);
    const odd = { endpoint: { base_url: "http://gw/v1'; rm -rf /", model: 'a"b' } } as CatalogEntry;
    expect(entryCurl(odd)).toContain(`'http://gw/v1'\\''; rm -rf /chat/completions'`);
    expect(pythonOf(odd)).toContain('model="a\\"b"');
  });
});
