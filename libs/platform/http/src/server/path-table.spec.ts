import { expect, it } from '@jest/globals';
import { PathTable } from './path-table.js';

const table = new PathTable();
for (const [method, path] of [
  ['GET', '/boxes/:id'],
  ['DELETE', '/boxes/:id'],
  ['GET', '/boxes/lids'],
  [['POST', 'HEAD'], '/boxes/lids'],
  ['DELETE', '/boxes/lids/:id'],
  ['GET', '/a.b'],
] as const)
  table.add(method as string | string[], path);

it.each([
  ['/boxes/1', ['DELETE', 'GET']],
  ['/boxes/1?a=b', ['DELETE', 'GET']],
  ['/boxes/lids', ['GET', 'HEAD', 'POST']],
  ['/boxes/lids?a=b', ['GET', 'HEAD', 'POST']],
  ['/boxes/lids/1', ['DELETE']],
  ['/boxes', []],
  ['/a.b', ['GET']],
  ['/aXb', []],
])('%s supports %j', (url, methods) => {
  expect(table.methodsOf(url)).toEqual(methods);
});

it('knows which paths are routes of their own, although a placeholder matches them', () => {
  expect(['/boxes/lids?x', '/boxes/1', '/none'].map((url) => table.ownMethodsOf(url)?.has('DELETE'))).toEqual([
    false,
    undefined,
    undefined,
  ]);
});
