import { describe, expect, it } from '@jest/globals';
import { operatorPatternProblem, originsFor, parseAllowPattern } from './index.js';

describe('parseAllowPattern', () => {
  it.each([
    ['http://127.0.0.1:*', { scheme: 'http', host: '127.0.0.1', isWildcard: false, port: null }],
    [
      'https://*.Inference.example.com',
      { scheme: 'https', host: 'inference.example.com', isWildcard: true, port: 443 },
    ],
    ['http://[::1]:8080', { scheme: 'http', host: '[::1]', isWildcard: false, port: 8080 }],
    ['https://*', { scheme: 'https', host: '', isWildcard: true, port: 443 }],
  ])('reads %s', (pattern, expected) => expect(parseAllowPattern(pattern)).toEqual(expected));

  it.each([
    '*',
    'ftp://h',
    'http://u@h',
    'http://h:70000',
    'http://h:0',
    'http://h/',
    'http://0x7f.1',
    'http://h.',
    '',
  ])('refuses %s', (pattern) => expect(parseAllowPattern(pattern)).toHaveProperty('problem', expect.any(String)));
});

describe('an origin that an operator may allow', () => {
  it.each(['http://127.0.0.1:*', 'https://*.inference.example.com', 'http://[::1]:8080', 'http://gpu-host'])(
    'is %s',
    (pattern) => expect(operatorPatternProblem(pattern)).toBeUndefined(),
  );

  it.each(['*', 'https://*', 'https://*.com', 'http://*.1.2.3.4', 'ftp://h', 'http://h/'])('is not %s', (pattern) =>
    expect(operatorPatternProblem(pattern)).toEqual(expect.any(String)),
  );
});

it('an entry is for every tenant, or for those it names', () => {
  const entries = [
    'http://all',
    { origin: 'http://some', tenants: ['acme'] },
    { origin: 'http://each', tenants: ['*'] },
  ];
  expect(originsFor(entries, 'acme')).toEqual(['http://all', 'http://some', 'http://each']);
  expect(originsFor(entries, 'other')).toEqual(['http://all', 'http://each']);
  expect(originsFor(entries, '')).toEqual(['http://all', 'http://each']);
});
