import { expect, it } from '@jest/globals';
import { assertFilePath, foldersOf } from './file-path.js';

it.each([
  'a',
  'a/b/c.txt',
  '.hidden',
  '..a',
  'a..',
  '...',
  'ünï cödé',
  'a:b*c?',
  '-rf',
  'x'.repeat(255),
  `${'d/'.repeat(511)}dd`,
])('the path %j is accepted', (path) => {
  expect(() => assertFilePath(path)).not.toThrow();
});

it.each([
  ['nothing', '', 'must not be empty'],
  ['an absolute path', '/a', 'must be relative'],
  ['a way up', 'a/../../b', 'must not contain . or ..'],
  ['a way up alone', '..', 'must not contain . or ..'],
  ['a dot', './a', 'must not contain . or ..'],
  ['a doubled slash', 'a//b', 'must not contain empty names'],
  ['a folder', 'a/', 'must not contain empty names'],
  ['a NUL', 'a\0', 'must not contain control characters or backslashes'],
  ['a backslash', '..\\a', 'must not contain control characters or backslashes'],
  ['a lone surrogate', 'a\ud800', 'must not contain control characters or backslashes'],
  ['a delete', 'a\x7f', 'must not contain control characters or backslashes'],
  ['a name of 256 bytes', `${'ü'.repeat(128)}`, 'must not contain names of more than 255 bytes'],
  ['1025 bytes', `${'d/'.repeat(512)}d`, 'must have at most 1024 bytes'],
])('a path is refused: %s', (_what, path, rule) => {
  expect(() => assertFilePath(path)).toThrow(
    expect.objectContaining({ code: 'path_invalid', status: 400, message: `path ${rule}.` }),
  );
});

it('the folders of a path are named', () => {
  expect(foldersOf('a')).toEqual([]);
  expect(foldersOf('a/b/c')).toEqual(['a', 'a/b']);
});
