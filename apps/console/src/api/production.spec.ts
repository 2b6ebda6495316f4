import { expect, it } from '@jest/globals';
import { isProduction } from './production.js';

it.each([
  ['production', true],
  ['prod', true],
  ['Production', true],
  ['staging', false],
  ['preproduction', false],
  [null, false],
  [undefined, false],
] as const)('a deployment in the environment %s needs its name to be typed: %s', (environment, isNeeded) =>
  expect(isProduction(environment)).toBe(isNeeded),
);
