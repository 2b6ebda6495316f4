import { describe, expect, it } from '@jest/globals';
import { boundedData, MAX_EVENT_DATA_BYTES } from './event.store.js';

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('the data of an event', () => {
  it('stays as it is up to the bound', () => {
    const data = { id: 'x', text: 'a'.repeat(MAX_EVENT_DATA_BYTES - 20) };
    expect(bytesOf(data)).toBeLessThanOrEqual(MAX_EVENT_DATA_BYTES);
    expect(boundedData(data)).toBe(data);
  });

  it('loses its largest fields first, names them, and keeps its ids', () => {
    const data = {
      deployment: 'chat',
      version: 3,
      changes: ['é'.repeat(200_000)],
      note: 'n'.repeat(30_000),
      digest: 'd',
    };
    expect(boundedData(data)).toEqual({
      deployment: 'chat',
      version: 3,
      note: data.note,
      digest: 'd',
      omitted: ['changes'],
    });
  });

  it.each([
    ['many large fields', Object.fromEntries([...Array(50).keys()].map((n) => [`field_${n}`, 'x'.repeat(20_000)]))],
    ['one field of the largest body', { everything: 'x'.repeat(1024 * 1024) }],
    ['a long name', { ['n'.repeat(200_000)]: 1, id: 'x' }],
    ['many small fields', Object.fromEntries([...Array(10_000).keys()].map((n) => [`field_${n}`, n]))],
    [
      'many small fields with long names',
      Object.fromEntries([...Array(300).keys()].map((n) => ['\u0001'.repeat(300) + n, n])),
    ],
    ['characters that JSON escapes', { text: '\u0001'.repeat(60_000), id: 'x' }],
  ])('is bounded with %s', (_what, data) => {
    expect(bytesOf(boundedData(data))).toBeLessThanOrEqual(MAX_EVENT_DATA_BYTES);
  });

  it('names a field with a part of its name that is Unicode', () => {
    const name = `a${'\u{1f600}'.repeat(200)}`;
    expect(boundedData({ [name]: 'x'.repeat(100_000) })).toEqual({ omitted: [[...name].slice(0, 100).join('')] });
  });

  it('does not change what the caller gave', () => {
    const data = { id: 'x', text: 'a'.repeat(100_000) };
    boundedData(data);
    expect(Object.keys(data)).toEqual(['id', 'text']);
  });
});
