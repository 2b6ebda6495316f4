import { expect, it } from '@jest/globals';
import { isOlder, ObjectCache } from './object-cache.js';
import type { KubeObject } from './objects.js';

const object = (name: string, uid: string, resourceVersion: string): KubeObject => ({
  metadata: { name, uid, resourceVersion },
});

it.each([
  ['9', '10', true],
  ['10', '9', false],
  ['99', '100', true],
  ['18446744073709551614', '18446744073709551615', true],
  ['7', '7', false],
  ['abc', '7', false],
  ['7', 'abc', false],
  [undefined, '7', false],
  ['7', undefined, false],
  ['07', '8', false],
])('version %j is older than %j: %j', (version, than, expected) => {
  expect(isOlder(version, than)).toBe(expected);
});

it('an object replaces another one of the same name, whether the end of the other was reported or not', () => {
  const changes: string[] = [];
  const cache = new ObjectCache((before, after) =>
    changes.push(`${before?.metadata.uid ?? '-'} ${after?.metadata.uid ?? '-'}`),
  );
  cache.replace([object('a', 'one', '5')], '5', cache.written());
  cache.take('ADDED', object('a', 'two', '6'));
  cache.take('DELETED', object('a', 'one', '7'));
  expect(cache.get('a')?.metadata.uid).toBe('two');
  cache.replace([object('a', 'three', '8')], '8', cache.written());
  expect([cache.size, cache.get('a')?.metadata.uid, cache.byUid('two')]).toEqual([1, 'three', undefined]);
  expect(changes).toEqual(['- one', 'one -', '- two', 'two -', '- three']);
});

it('versions that are not numbers count in the order in which they arrive', () => {
  const cache = new ObjectCache<KubeObject>(() => undefined);
  cache.replace([object('a', 'one', 'x')], 'x', cache.written());
  cache.take('MODIFIED', object('a', 'one', 'b'));
  expect(cache.get('a')?.metadata.resourceVersion).toBe('b');
  cache.take('DELETED', object('a', 'one', 'a'));
  expect(cache.size).toBe(0);
});
