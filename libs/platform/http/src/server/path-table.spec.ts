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

it('knows which path a client meant', () => {
  const api = new PathTable();
  for (const path of ['/api/v1/boxes', '/api/v1/boxes/:id', '/api/v1/boxes/:id/lids', '/healthz']) api.add('GET', path);
  for (const [sent, meant] of [
    ['/api/v1/boxes/', '/api/v1/boxes'],
    ['/api/v1//boxes/A1/', '/api/v1/boxes/A1'],
    ['/api/v1/Boxes/A1/lids', '/api/v1/boxes/A1/lids'],
    ['/API/V1/boxes', '/api/v1/boxes'],
    ['/boxes?limit=1', '/api/v1/boxes'],
    ['/v1/boxes', '/api/v1/boxes'],
    ['/api/v2/boxes', '/api/v1/boxes'],
    ['/api/boxes/A1', '/api/v1/boxes/A1'],
    ['//healthz/', '/healthz'],
    ['/api/v1/crates', undefined],
    ['/', undefined],
    ['/a'.repeat(5_000), undefined],
  ] as const)
    expect([sent, api.likelyPathOf(sent)]).toEqual([sent, meant]);
});
