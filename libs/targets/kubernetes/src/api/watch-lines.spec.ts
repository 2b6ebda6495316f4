import { expect, it } from '@jest/globals';
import { BrokenWatchError, eventsOf } from './watch-lines.js';

const event = (name: string): string =>
  `${JSON.stringify({ type: 'ADDED', object: { metadata: { name, uid: name, resourceVersion: '1', managedFields: [] } } })}\n`;

async function namesIn(pieces: string[], maxLineBytes?: number): Promise<unknown[]> {
  const names: unknown[] = [];
  let heard = 0;
  async function* bytes(): AsyncGenerator<Buffer> {
    for (const piece of pieces) yield Buffer.from(piece);
  }
  for await (const one of eventsOf(bytes(), () => (heard += 1), maxLineBytes)) {
    const { metadata } = one.object as { metadata: Record<string, unknown> };
    expect(metadata.managedFields).toBeUndefined();
    names.push(metadata.name);
  }
  expect(heard).toBe(pieces.length);
  return names;
}

it('reads several events in a piece, an event in several pieces, and skips empty lines and pieces', async () => {
  const [a, b] = [event('a'), event('b')];
  expect(
    await namesIn([a + b, '', '\n', a.slice(0, 7), a.slice(7, 20), a.slice(20) + b.slice(0, 1), b.slice(1)]),
  ).toEqual(['a', 'b', 'a', 'b']);
});

it('limits the length of a line, and not that of a watch', async () => {
  const one = event('a');
  const pieces = Array.from({ length: 40 }, () => [one.slice(0, 30), one.slice(30)]).flat();
  expect(await namesIn(pieces, one.length)).toHaveLength(40);
  await expect(namesIn([one.slice(0, -1), 'x'], one.length - 1)).rejects.toThrow(BrokenWatchError);
});

it.each([
  ['no JSON', '{\n'],
  ['no object', '{"type":"ADDED"}\n'],
  ['null', 'null\n'],
  ['an unknown type', event('a').replace('ADDED', 'RENAMED')],
  ['an object without a uid', event('a').replace('"uid"', '"id"')],
  ['a bookmark without a version', '{"type":"BOOKMARK","object":{"metadata":{}}}\n'],
  ['an error without a status', '{"type":"ERROR","object":null}\n'],
])('a line with %s is not an event', async (_what, line) => {
  await expect(namesIn([line])).rejects.toThrow(BrokenWatchError);
});
