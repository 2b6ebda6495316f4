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
  expect(edit('{"session_id":1,"session_id":2}', {}, ['session_id'])).toBe('{}');
  expect(edit('{"a":1,"session_id":1,"session_id":2}', {}, ['session_id'])).toBe('{"a":1}');
});

it('recognizes escaped keys, and changes both of two equal ones', () => {
  expect(edit('{"mod\\u0065l":"a","model":"b"}', { model: '"x"' })).toBe('{"mod\\u0065l":"x","model":"x"}');
});

it('has the same result as parsing, editing and serializing, for any object and any white space', () => {
  const key = fc.oneof(fc.constantFrom('model', 'session_id', 'a', '__proto__', 'x"y', 'é\\'), fc.string());
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

it('reads the members that decide where a request is sent, and the last of two equal ones', () => {
  const text = '{"model":"a","m\\u006fdel":"b","stream":null,"user":["x"],"messages":[{"stream":true}],"seed":1}';
  expect(scanned(text).fields).toEqual({ model: 'b', stream: null, user: ['x'] });
  expect(scanned(text).members.map(({ name }) => name)).toEqual([
    'model',
    'model',
    'stream',
    'user',
    'messages',
    'seed',
  ]);
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
