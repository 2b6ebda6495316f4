import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { GatewayError } from '../gateway.errors.js';
import { BodyScan, editTopLevel, type RequestBody } from './request-body.js';

function scanned(text: string): RequestBody {
  const bytes = Buffer.from(text);
  const scan = new BodyScan();
  scan.push(bytes);
  return scan.end(bytes);
}

function refusal(text: string): unknown[] {
  try {
    scanned(text);
    return [];
  } catch (error) {
    const { status, code, param } = error as GatewayError;
    return [status, code, param];
  }
}

const edit = (text: string, set: Record<string, string> = {}, remove: string[] = []): string =>
  editTopLevel(scanned(text), set, remove).toString();

it('changes the named members and no other byte', () => {
  const text =
    '{ "seed" : 12345678901234567890, "model":"a\\"b" ,\n"messages":[{"model":"inner","c":"}]\\\\"}],"t":1.0e0 }';
  expect(edit(text, { model: '"x"' })).toBe(text.replace('"a\\"b"', '"x"'));
});

it('removes members with the right comma at every position', () => {
  expect(edit('{"session_id":"s","a":1}', {}, ['session_id'])).toBe('{"a":1}');
  expect(edit('{"a":1,"session_id":"s"}', {}, ['session_id'])).toBe('{"a":1}');
  expect(edit('{"a":1 , "session_id":"s" , "b":2}', {}, ['session_id'])).toBe('{"a":1 , "b":2}');
  expect(edit('{"session_id":"s"}', {}, ['session_id'])).toBe('{}');
  expect(edit('{"a":1,"session_id":1,"b":2}', {}, ['session_id', 'b'])).toBe('{"a":1}');
});

it('recognizes escaped keys, and changes both of two equal ones', () => {
  expect(edit('{"mod\\u0065l":"a"}', { model: '"x"' })).toBe('{"mod\\u0065l":"x"}');
  expect(edit('{"a":1,"\\u0061":2}', { a: '3' })).toBe('{"a":3,"\\u0061":3}');
});

it('has the same result as parsing, editing and serializing, for any object and any white space', () => {
  const anyName = fc.string().filter((name) => !/^[\s_-]*n[\s_-]*$/i.test(name));
  const key = fc.oneof(fc.constantFrom('model', 'session_id', 'a', '__proto__', 'x"y', 'é\\'), anyName);
  fc.assert(
    fc.property(
      fc.dictionary(key, fc.jsonValue(), { noNullPrototype: true }),
      fc.constantFrom(undefined, 1, '\t'),
      (object, space) => {
        const text = JSON.stringify(object, null, space);
        const expected = JSON.parse(text) as Record<string, unknown>;
        if (Object.hasOwn(expected, 'model')) expected['model'] = 'new';
        delete expected['session_id'];
        expect(JSON.parse(edit(text, { model: '"new"' }, ['session_id']))).toEqual(expected);
      },
    ),
    { numRuns: 500 },
  );
});

it('reads the members that decide where a request is sent', () => {
  const text = '{"m\\u006fdel":"b","stream":null,"user":["x"],"messages":[{"stream":true}],"seed":1}';
  expect(scanned(text).fields).toEqual({ model: 'b', stream: null, user: ['x'] });
  expect(scanned(text).members.map(({ name }) => name)).toEqual(['model', 'stream', 'user', 'messages', 'seed']);
});

it.each(['', '7', '[]', '["model"]', '{"model":"a"', '{"model":"a"}}', '{"model":01}', 'null'])(
  'refuses %j as a body',
  (text) => expect(refusal(text)).toEqual([400, 'invalid_json', null]),
);

it('refuses a body that is nested too deep, and accepts an empty one', () => {
  const nested = (levels: number) => `{"messages":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  expect(refusal(nested(127))).toEqual([]);
  expect(refusal(nested(128))).toEqual([400, 'invalid_json', null]);
  expect(scanned('  {}').members).toEqual([]);
});

it('never parses a long value', () => {
  expect(refusal(`{"model":"${'a'.repeat(9_000)}"}`)).toEqual([400, 'invalid_value', 'model']);
  expect(refusal(`{"user":"${'a'.repeat(8_190)}"}`)).toEqual([]);
  expect(scanned(`{"model":[${'[],'.repeat(5_000)}[]]}`).fields.model).toEqual({});
});

it('accepts a byte order mark in pieces of any size, and removes it', () => {
  const marked = Buffer.from('\ufeff{"model":"a"}');
  for (let size = 1; size <= marked.length; size += 1) {
    const scan = new BodyScan();
    for (let at = 0; at < marked.length; at += size) scan.push(marked.subarray(at, at + size));
    const body = scan.end(marked);
    expect([body.text.toString(), body.fields.model]).toEqual(['{"model":"a"}', 'a']);
    expect(editTopLevel(body, { model: '"x"' }, []).toString()).toBe('{"model":"x"}');
  }
  for (const text of ['\ufeff', '\ufeff\ufeff{}', ' \ufeff{}', '{}\ufeff'])
    expect(refusal(text)).toEqual([400, 'invalid_json', null]);
});

const bytes = (...pieces: (string | number)[]): Buffer =>
  Buffer.concat(pieces.map((one) => (typeof one === 'string' ? Buffer.from(one) : Buffer.from([one]))));
it.each([
  ['a byte that begins no letter', bytes('{"a":"', 0xff, '"}')],
  ['a letter that is cut', bytes('{"a":"', 0xe2, 0x82, '"}')],
  ['a letter in more bytes than it needs', bytes('{"a":"', 0xc0, 0xaf, '"}')],
  ['half of a surrogate pair', bytes('{"a":"', 0xed, 0xa0, 0x80, '"}')],
  ['a name in Latin-1', bytes('{"caf', 0xe9, '":1}')],
  ['the escape of the first half', bytes('{"a":["\\ud83d"]}')],
  ['the escape of the second half', bytes('{"a":{"\\uDE00":1}}')],
  ['escapes in the wrong order', bytes('{"a":"\\ude00\\ud83d"}')],
  ['half of a byte order mark', bytes(0xef, 0xbb, '{}')],
  ['UTF-16', Buffer.from('\ufeff{}', 'utf16le')],
])('refuses a body with %s', (_what, body) => {
  const scan = new BodyScan();
  const read = (): unknown => {
    for (const byte of body) scan.push(Buffer.from([byte]));
    return scan.end(body);
  };
  expect(read).toThrow(expect.objectContaining({ status: 400, code: 'invalid_json' }));
});

it('leaves letters beyond the basic plane as they are, escaped or not', () => {
  const text = '{"a":"\\ud83d\\ude00 😀 \\u00e9"}';
  expect(scanned(text).text.toString()).toBe(text);
});
