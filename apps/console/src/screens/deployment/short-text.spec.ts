import { describe, expect, it } from '@jest/globals';
import { actorText, costText, flatText, numberText, oneLine, shortDigest } from './short-text.js';

describe('numbers', () => {
  it.each([
    [0, '0'],
    [0.012345, '0.0123'],
    [41.26, '41.3'],
    [1234.5, '1,235'],
    [null, '–'],
    [Number.NaN, '–'],
  ])('%p is %s', (value, text) => expect(numberText(value)).toBe(text));
});

it('cuts every long text', () => {
  expect(oneLine({ a: 'x'.repeat(1_000) })).toHaveLength(121);
  expect(oneLine(undefined)).toBe('');
});

it('formats an object without brackets', () =>
  expect(flatText({ profile: 'chat', input_tokens: { p50: 200, p95: 900 }, freeze_windows: [], x: null })).toBe(
    'profile chat, input_tokens p50 200, p95 900',
  ));

it.each([
  [{ per_hour: { amount: 0.8, currency: 'EUR' }, devices: 1, accelerator: 'nvidia-l4' }, '0.80 EUR/h, 1 x nvidia-l4'],
  [{ per_hour: null, devices: 2, accelerator: 'nvidia-l4' }, 'no price, 2 x nvidia-l4'],
  [{ per_hour: null, devices: 2, accelerator: null }, 'no price, 2 x device'],
])('formats the cost %j as %s', (cost, text) => expect(costText(cost)).toBe(text));

it('shortens digests and actors', () => {
  expect(shortDigest('sha256:0123456789abcdef')).toBe('0123456789ab');
  expect(actorText('token:tok_1')).toBe('tok_1');
  expect(actorText('nobody')).toBe('nobody');
});
