import { inspect } from 'node:util';
import { hkdfSync } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { KeyRing } from './index.js';

const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

it('names keys by a hash, seals with the first key and finds the others', () => {
  const ring = new KeyRing(one, [two]);
  expect(ring.current.id).toMatch(/^[0-9a-f]{8}$/);
  expect(ring.all().map(({ id }) => id)).toEqual([ring.current.id, new KeyRing(two).current.id]);
  expect(ring.byId(new KeyRing(two).current.id)?.secret.export()).toEqual(two);
  expect(ring.byId('00000000')).toBeUndefined();
  // The current key may also be among the old ones, while processes receive a new key one after the other.
  expect(new KeyRing(one, [one, two]).all()).toHaveLength(2);
});

it('derives unrelated keys by label and by key', () => {
  const ring = new KeyRing(one, [two]);
  const old = new KeyRing(two).current.id;
  expect(ring.derive('audit').export()).toEqual(Buffer.from(hkdfSync('sha256', one, '', 'audit', 32)));
  expect(ring.derive('audit', old).export()).toEqual(Buffer.from(hkdfSync('sha256', two, '', 'audit', 32)));
  expect(ring.derive('audit').equals(ring.derive('passport'))).toBe(false);
  expect(() => ring.derive('audit', '00000000')).toThrow(RangeError);
});

it('shows no key when it is printed', () => {
  const shown = inspect(new KeyRing(one, [two]), { depth: 9 }) + JSON.stringify(new KeyRing(one, [two]));
  expect(shown).not.toContain('01 01');
  expect(shown).not.toContain(one.toString('base64'));
});
