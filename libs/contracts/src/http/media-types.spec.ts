import { describe, expect, it } from '@jest/globals';
import { hasOtherContentType, hasUtf8Charset, mediaTypeOf, preferredMediaType } from './media-types.js';

describe('a media type', () => {
  it.each([
    ['application/json', 'application/json', {}],
    ['Application/JSON', 'application/json', {}],
    ['application/json;charset=UTF-8', 'application/json', { charset: 'UTF-8' }],
    [' application/json ; Charset="utf-8" ;', 'application/json', { charset: 'utf-8' }],
    ['multipart/form-data; boundary="a;b=\\"c\\""', 'multipart/form-data', { boundary: 'a;b="c"' }],
    ['application/merge-patch+json', 'application/merge-patch+json', {}],
  ])('is read from %j', (text, type, parameters) => {
    const read = mediaTypeOf(text);
    expect({ type: read?.type, parameters: Object.fromEntries(read?.parameters ?? []) }).toEqual({ type, parameters });
  });

  it.each([
    '',
    'json',
    'application/',
    '/json',
    'application/json/x',
    'application/json, text/plain',
    'application/json charset=utf-8',
    'application/json; charset',
    'application/json; charset=',
    'application/json; =utf-8',
    'application/json; charset = utf-8',
    'application/json; charset="utf-8',
    'application/json; charset=utf-8; charset=utf-16',
    'application/j son',
    'application/json\u00e9',
  ])('is not %j', (text) => {
    expect(mediaTypeOf(text)).toBeUndefined();
  });

  it.each([
    ['application/json', true],
    ['application/json; charset=utf8', true],
    ['application/json; charset="UTF-8"', true],
    ['application/json; charset=iso-8859-1', false],
    ['application/json; charset=utf-16', false],
    ['application/json; charset="utf-8, x"', false],
  ])('%s: whether it is UTF-8', (text, isUtf8) => {
    expect(hasUtf8Charset(mediaTypeOf(text)!)).toBe(isUtf8);
  });

  it.each([
    [['Content-Type', 'a/b'], false],
    [['content-type', 'a/b', 'Content-Type', 'a/b'], false],
    [['content-type', 'a/b', 'Accept', 'c/d', 'CONTENT-TYPE', 'c/d'], true],
    [['content-type', 'a/b', 'x-type', 'content-type', 'content-typo', 'c/d'], false],
  ])('may be contradicted in %j', (rawHeaders, isContradicted) => {
    expect(hasOtherContentType(rawHeaders, 'a/b')).toBe(isContradicted);
  });

  it('is read in linear time, whatever a client sends', () => {
    const began = performance.now();
    for (const text of [
      '"\\'.repeat(50_000),
      `a/b;x="${'\\"'.repeat(50_000)}`,
      'a/b;'.repeat(50_000),
      ','.repeat(99_999),
    ])
      preferredMediaType(text, ['application/json']);
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});

const BOTH = ['application/json', 'text/event-stream'];

describe('the type of an answer', () => {
  it.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['APPLICATION/JSON', 'application/json'],
    ['application/json;charset=utf-8', 'application/json'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'application/json'],
    ['text/event-stream', 'text/event-stream'],
    ['text/*', 'text/event-stream'],
    ['text/event-stream, */*', 'text/event-stream'],
    ['application/json, text/event-stream', 'text/event-stream'],
    ['text/event-stream, application/json', 'text/event-stream'],
    ['text/event-stream;q=0.5, application/json', 'application/json'],
    ['text/event-stream;q=0.5, */*', 'application/json'],
    ['text/event-stream;q=0, */*', 'application/json'],
    ['application/json;q=0, */*', 'text/event-stream'],
    ['application/json;q=0.1, application/*;q=0.9, text/event-stream;q=0.5', 'text/event-stream'],
    ['application/json;q=0.001', 'application/json'],
    // Malformed ranges do not count, and a header with none left is no header.
    ['json', 'application/json'],
    ['text/event-stream;q=2, application/json;q=0.1', 'application/json'],
    ['text/event-stream;q=0.5000, application/json;q=0.1', 'application/json'],
    ['text/html', undefined],
    ['application/xml, text/html;q=0.9', undefined],
    ['*/*;q=0', undefined],
    ['application/json;q=0', undefined],
    ['application/problem+json', undefined],
    ['json, text/html', undefined],
  ])('for Accept: %s is %s', (accept, type) => {
    expect(preferredMediaType(accept, BOTH)).toBe(type);
  });

  it('is the only one there is, unless the client refuses it', () => {
    expect(preferredMediaType('text/event-stream, */*;q=0.1', ['application/json'])).toBe('application/json');
    expect(preferredMediaType('text/event-stream', ['application/json'])).toBeUndefined();
  });
});
