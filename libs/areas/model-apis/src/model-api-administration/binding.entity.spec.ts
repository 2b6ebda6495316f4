import { expect, it } from '@jest/globals';
import { withResult } from './binding.entity.js';

it('a check that was stored before results existed gets its result', () => {
  const check = { name: 'list_models', message: '', duration_ms: 1 };
  expect(withResult({ ...check, passed: true }).result).toBe('passed');
  expect(withResult({ ...check, passed: false }).result).toBe('failed');
  expect(withResult({ ...check, passed: false, result: 'not_applicable' as const }).result).toBe('not_applicable');
});
