import { describe, expect, it } from '@jest/globals';
import { bytesOf, bytesText, objectionTo, pathIn } from './file-names.js';

describe('a number of bytes', () => {
  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1536, '1.5 KiB'],
    [100 * 1024 ** 2, '100 MiB'],
    [5 * 1024 ** 5, '5120 TiB'],
  ])('%d is formatted as %s', (bytes, text) => expect(bytesText(bytes)).toBe(text));

  it.each([
    ['1000', 1000],
    ['1.5 KiB', 1536],
    ['2g', 2 * 1024 ** 3],
    ['10 MB', 10 * 1024 ** 2],
  ])('is parsed from %s', (text, bytes) => expect(bytesOf(text)).toBe(bytes));

  it.each(['', '0', '-1', 'much', '1e3', '1 PiB'])('cannot be parsed from %j', (text) =>
    expect(bytesOf(text)).toBeUndefined(),
  );
});

describe('a path', () => {
  it('has one canonical spelling', () => {
    expect(pathIn('', 'a.txt')).toBe('a.txt');
    expect(pathIn('/data//in/', 'a.txt')).toBe('data/in/a.txt');
  });
});

describe('a file', () => {
  const capacity = { left: 10, limit: 100 };
  it('is sent if the workspace has capacity', () =>
    expect(objectionTo({ name: 'a', size: 10 }, capacity)).toBeUndefined());
  it('is refused if the workspace has no capacity', () => {
    expect(objectionTo({ name: 'a', size: 11 }, capacity)).toMatch(/has 10 B left/);
    expect(objectionTo({ name: 'a', size: 101 }, capacity)).toMatch(/can store at most 100 B/);
  });
});
