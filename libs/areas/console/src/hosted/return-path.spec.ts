import { expect, it } from '@jest/globals';
import { returnPath } from './return-path.js';

it.each([
  ['/deployments/chat?tab=a#b', '/deployments/chat?tab=a#b'],
  ['/a/../b', '/b'],
  ['/consoles', '/consoles'],
  ['/ä', '/%C3%A4'],
])('leads to %s', (asked, path) => expect(returnPath(asked)).toBe(path));

it.each([
  undefined,
  ['/a', '/b'],
  'deployments',
  'https://evil.example/',
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/.//evil.example',
  '/..//evil.example',
  '/\t/evil.example',
  ' //evil.example',
  'javascript:alert(1)',
  '/console/sign-in',
  '/api/v1/tokens',
  `/${'a'.repeat(2_000)}`,
  `/${'ä'.repeat(500)}`,
])('leads home instead of to %p', (asked) => expect(returnPath(asked)).toBe('/'));
