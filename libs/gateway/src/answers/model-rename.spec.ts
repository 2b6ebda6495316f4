import { expect, it } from '@jest/globals';
import { GatewayError } from '../gateway.errors.js';
import { ModelRename, renamed } from './model-rename.js';

const NAME = Buffer.from('"chat"');
const FILE = '/models/x.gguf';

/** Returns the output for a text that arrives in pieces of this size. */
function passed(text: string, size: number): string {
  const bytes = Buffer.from(text);
  const rename = new ModelRename(NAME);
  const out: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) out.push(rename.push(bytes.subarray(at, at + size)));
  return Buffer.concat(out).toString();
}
const whole = (text: string): string => Buffer.concat(renamed(Buffer.from(text), NAME)).toString();

const TEXTS: [what: string, given: string, expected: string][] = [
  ['at its beginning', `{"model":"${FILE}","choices":[]}`, '{"model":"chat","choices":[]}'],
  [
    'behind the choices, and with blanks',
    `{ "choices": [{"a": "é \\"model\\":\\"b\\""}],\n "model" : "${FILE}" ,"usage":{}}`,
    `{ "choices": [{"a": "é \\"model\\":\\"b\\""}],\n "model" : "chat" ,"usage":{}}`,
  ],
  ['twice', `{"model":"${FILE}","x":1,"model":"b"}`, '{"model":"chat","x":1,"model":"chat"}'],
  [
    'far behind the first',
    `{"model":"a","x":"${'y'.repeat(400)}","model":"b"}`,
    `{"model":"chat","x":"${'y'.repeat(400)}","model":"chat"}`,
  ],
  ['of another type', `{"model":{"path":"${FILE}"},"n":[1]}`, '{"model":"chat","n":[1]}'],
  ['of a long name', `{"model":"${'/m'.repeat(300)}","n":[1]}`, '{"model":"chat","n":[1]}'],
  ['behind a byte order mark', `\ufeff{"model":"${FILE}"}`, '\ufeff{"model":"chat"}'],
  [
    'under an escaped key',
    `{"model":"a","x":"\\u0065","mod\\u0065l":"${FILE}"}`,
    '{"model":"chat","x":"\\u0065","mod\\u0065l":"chat"}',
  ],
  [
    'after plain members',
    `{"id":"1","created":2,"model" :\t"${FILE}","n":[{}]}`,
    '{"id":"1","created":2,"model" :\t"chat","n":[{}]}',
  ],
  ['with an escape in its value', '{"id":1,"model":"a\\"b\\\\","n":2}', '{"id":1,"model":"chat","n":2}'],
  ['after a string with a brace', '{"id":"{","model":"a"}', '{"id":"{","model":"chat"}'],
  ['after a nested object', '{"a":{"b":1},"model":"a"}', '{"a":{"b":1},"model":"chat"}'],
  ['as null', '{"id":1,"model":null,"n":2}', '{"id":1,"model":"chat","n":2}'],
  ['only further in', '{"choices":[{"model":"own"}]}', '{"choices":[{"model":"own"}]}'],
  ['nowhere', '[{"model":"own"}]', '[{"model":"own"}]'],
  ['as a value', '{"role":"model","x":"model"}', '{"role":"model","x":"model"}'],
  [
    'in a text that turns out to be none',
    `{"model":"a","x":nope,"model":"b"}`,
    `{"model":"chat","x":nope,"model":"b"}`,
  ],
  ['in a long key', `{"${'k'.repeat(300)}model":"own"}`, `{"${'k'.repeat(300)}model":"own"}`],
];

it.each(TEXTS)('renames the outermost model of an answer that has it %s', (_what, given, expected) => {
  expect(whole(given)).toBe(expected);
  for (const size of [1, 2, 7, 64, 1_000]) expect([size, passed(given, size)]).toEqual([size, expected]);
});

it('reads an escaped key as clients read it', () => {
  expect(passed(`{"mod\\u0065l":"${FILE}"}`, 3)).toBe('{"mod\\u0065l":"chat"}');
});

it('passes everything else on unchanged', () => {
  const rename = new ModelRename(NAME);
  const sent = ['{"choices":["abc', 'def"],"mo', 'del":"/a', '/b","usage":{', '}}'];
  expect(sent.map((piece) => rename.push(Buffer.from(piece)).toString())).toEqual([
    '{"choices":["abc',
    'def"],',
    '',
    '"model":"chat","usage":{',
    '}}',
  ]);
});

it('holds back at most 8 KiB', () => {
  const rename = new ModelRename(NAME);
  const pour = (): void => {
    rename.push(Buffer.from('{"model":"'));
    for (let n = 0; n < 9; n += 1) rename.push(Buffer.alloc(1024, 'x'));
  };
  expect(pour).toThrow(GatewayError);
  expect(() => new ModelRename(NAME).push(Buffer.from('['.repeat(200)))).toThrow(GatewayError);
});
