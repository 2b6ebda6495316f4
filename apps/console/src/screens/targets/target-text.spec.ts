import { describe, expect, it } from '@jest/globals';
import { deviceState, memoryText, instanceCapacityText, rangeText, argumentValueText } from './target-text.js';

it.each([
  [{ choices: ['f16', 8, true] }, 'f16, 8, true'],
  [{ min: 1, max: 8 }, '1 to 8'],
  [{ min: 0 }, 'from 0'],
  [{ max: 0.5, at_least: 'min_p' }, 'up to 0.5; not below min_p'],
  [{}, ''],
])('formats the range of %j', (arg, text) => expect(rangeText(arg)).toBe(text));

it('formats any value, and cuts it if it is long', () => {
  expect(argumentValueText('a')).toBe('a');
  expect(argumentValueText({ a: 1 })).toBe('{"a":1}');
  expect(argumentValueText(null)).toBe('');
  expect(argumentValueText('x'.repeat(500))).toHaveLength(201);
});

it('formats the capacity for instances', () => {
  expect(instanceCapacityText({ in_use: 2, max_instances: 16 })).toBe('2 of 16 in use');
  expect(instanceCapacityText({ in_use: 2, max_instances: null })).toBe('2 in use, no limit');
});

it('formats memory, even if the host does not report it', () => {
  expect(memoryText(24_576)).toBe('24.0 GiB');
  expect(memoryText(null)).toBe('?');
});

describe('the state of a device', () => {
  const free = { holders: [], problem: null, foreign_mb: 0 };
  const holder = { ending: false, memory_mb: null, revision: 'chat-00001' };
  it.each([
    ['free', free],
    ['used by others', { ...free, foreign_mb: 10 }],
    ['in use', { ...free, holders: [holder], foreign_mb: 10 }],
    ['unavailable', { ...free, holders: [holder], problem: 'its driver lost it' }],
  ])('is %s', (state, device) => expect(deviceState(device)).toBe(state));
});
