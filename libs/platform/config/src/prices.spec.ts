import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { multiplyMoney, OperatorConfigError, OperatorSettings, parseOperatorConfig, priceOf } from './index.js';

const configOf = (text: string) => ({ operator: parseOperatorConfig(text) });
const problemsOf = (text: string): string[] => {
  try {
    parseOperatorConfig(text);
    return [];
  } catch (error) {
    if (error instanceof OperatorConfigError) return error.problems;
    throw error;
  }
};
const entry = (name: string, amount: number | string, currency = 'EUR') =>
  `${name}: {price_per_hour: {amount: ${amount}, currency: ${currency}}}`;
const file = (...entries: string[]) => `accelerators: {${entries.join(', ')}}`;

describe('prices', () => {
  it('are found by the exact name of the accelerator', () => {
    const config = configOf(file(entry('nvidia-l4', 0.8), entry('nvidia-h100', 3), entry('"NVIDIA L40S"', 0)));
    expect(priceOf(config, 'nvidia-l4')).toEqual({ amount: 0.8, currency: 'EUR' });
    expect(priceOf(config, 'nvidia-h100')).toEqual({ amount: 3, currency: 'EUR' });
    expect(priceOf(config, 'NVIDIA L40S')).toEqual({ amount: 0, currency: 'EUR' });
    // Also not a name that every object has as a property.
    for (const name of ['l4', 'NVIDIA-L4', 'constructor', '', null, undefined])
      expect([name, priceOf(config, name)]).toEqual([name, null]);
  });

  it.each(['targets: []', 'accelerators:', 'accelerators: {}'])('are absent in a file with %s', (text) => {
    expect(priceOf(configOf(text), 'nvidia-l4')).toBeNull();
  });

  it('follow the file while the process runs, and an invalid file changes none', () => {
    const settings = OperatorSettings.of((text) => parseOperatorConfig(text ?? ''), file(entry('a', 1)));
    expect(settings.offer(file(entry('a', 2)))).toEqual([]);
    expect(priceOf({ operator: settings }, 'a')).toEqual({ amount: 2, currency: 'EUR' });
    expect(settings.offer(file(entry('a', 3), entry('b', 3, 'USD')))).toHaveLength(1);
    expect(priceOf({ operator: settings }, 'a')).toEqual({ amount: 2, currency: 'EUR' });
  });

  it('have one currency: each other one is named', () => {
    expect(problemsOf(file(entry('a', 1), entry('b', 1, 'USD'), entry('c', 1), entry('d', 1, 'CHF')))).toEqual([
      'accelerators.b.price_per_hour.currency must be EUR, the currency of a, not USD: all prices of one installation have the same currency',
      'accelerators.d.price_per_hour.currency must be EUR, the currency of a, not CHF: all prices of one installation have the same currency',
    ]);
  });

  const many = (count: number) => file(...Array.from({ length: count }, (_, n) => entry(`gpu-${n}`, n)));

  it('are at most 100', () => {
    expect(problemsOf(many(100))).toEqual([]);
    expect(problemsOf(many(101))).toEqual(['accelerators must not have more than 100 entries']);
  });

  it.each([
    ['accelerators: 7', /^accelerators must be a mapping$/],
    ['accelerators: {a: 1}', /^accelerators\.a must be a mapping$/],
    ['accelerators: {a: {}}', /^accelerators\.a\.price_per_hour is required$/],
    ['accelerators: {a: {price: 1}}', /^accelerators\.a\.price is not a known key/],
    ['accelerators: {a: {price_per_hour: 1}}', /^accelerators\.a\.price_per_hour must be a mapping$/],
    ['accelerators: {a: {price_per_hour: {amount: 1}}}', /^accelerators\.a\.price_per_hour\.currency is required$/],
    [file(entry('a', -0.01)), /^accelerators\.a\.price_per_hour\.amount must be a number from 0 to/],
    [file(entry('a', '"1"')), /^accelerators\.a\.price_per_hour\.amount must be a number from 0 to/],
    [file(entry('a', '.inf')), /^accelerators\.a\.price_per_hour\.amount must be a number from 0 to/],
    [file(entry('a', 1, 'eur')), /^accelerators\.a\.price_per_hour\.currency must match/],
    [file(entry('a', 1, 'EURO')), /^accelerators\.a\.price_per_hour\.currency must match/],
    [file(entry('""', 1)), /^accelerators\. is not a valid name/],
    [file(entry('" l4"', 1)), /^accelerators\. l4 is not a valid name/],
    [file(entry('x'.repeat(64), 1)), /^accelerators\.x{64} is not a valid name/],
  ])('are refused by key path: %s', (text, expected) => {
    expect(problemsOf(text)[0]).toMatch(expected);
  });

  it('have an example in docker/slipway.config.yaml', () => {
    const shown = readFileSync(new URL('../../../../docker/slipway.config.yaml', import.meta.url), 'utf8');
    const [, example] = /^# (accelerators: .*)$/m.exec(shown)!;
    expect(priceOf(configOf(example!), 'nvidia-l4')).toEqual({ amount: 0.8, currency: 'EUR' });
  });

  it('are multiplied without the noise of binary fractions', () => {
    expect(multiplyMoney({ amount: 0.8, currency: 'EUR' }, 3)).toEqual({ amount: 2.4, currency: 'EUR' });
    expect(multiplyMoney({ amount: 0.1, currency: 'EUR' }, 0)).toEqual({ amount: 0, currency: 'EUR' });
  });
});
