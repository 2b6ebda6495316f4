import { expect, it } from '@jest/globals';
import { AddressRate, FailedAttempts } from './address-rate.js';

const drained = (rate: AddressRate, address: string): boolean => rate.take(address) !== undefined;

it('allows each address its own number of attempts', () => {
  const rate = new AddressRate(2);
  expect([rate.take('10.0.0.1'), rate.take('10.0.0.1')]).toEqual([undefined, undefined]);
  expect(rate.take('10.0.0.1')).toBe(30);
  expect(rate.take('10.0.0.2')).toBeUndefined();
});

it.each([
  ['2001:db8:1:2::1', '2001:db8:1:2:3:4:5:6', true],
  ['2001:db8:1:2::1', '2001:0DB8:1:2::7%eth0', true],
  ['2001:db8::1', '2001:db8:0:0:9::', true],
  ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
  ['::ffff:10.0.0.1', '10.0.0.1', true],
  ['::ffff:10.0.0.1', '::ffff:10.0.0.2', false],
  ['::1', '::1', true],
])('%s and %s belong to the same network: %s', (one, other, isSame) => {
  const rate = new AddressRate(1);
  rate.take(one);
  expect(drained(rate, other)).toBe(isSame);
});

it('remembers ten thousand addresses and gives all others one shared allowance', () => {
  const rate = new AddressRate(1);
  for (let n = 0; n < 10_000; n += 1) rate.take(`10.0.${n >> 8}.${n & 255}`);
  expect([drained(rate, '172.16.0.1'), drained(rate, '172.16.0.2')]).toEqual([false, true]);
  expect(drained(rate, '10.0.0.0')).toBe(true);
});

it('limits failures of an address, and for one claim from any address', () => {
  const failures = new FailedAttempts({ addressPerMinute: 3, claimPerMinute: 2 });
  const note = (address: string, claim: string) => failures.note(address, claim) !== undefined;
  expect([note('10.0.0.1', 'a'), note('10.0.0.2', 'a'), note('10.0.0.3', 'a')]).toEqual([false, false, true]);
  expect([note('10.0.0.1', 'b'), note('10.0.0.1', 'c'), note('10.0.0.1', 'd')]).toEqual([false, false, true]);
  expect(failures.note('10.0.0.1', 'a')).toBe(30);
});
