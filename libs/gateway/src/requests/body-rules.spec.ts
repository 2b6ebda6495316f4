import { expect, it } from '@jest/globals';
import type { GatewayError } from '../gateway.errors.js';
import { BodyScan } from './request-body.js';

/** Returns status, code and parameter of the refusal of a body; empty if it is accepted. */
function refusal(text: string): unknown[] {
  const bytes = Buffer.from(text);
  const scan = new BodyScan();
  try {
    scan.push(bytes);
    scan.end(bytes);
    return [];
  } catch (error) {
    const { status, code, param } = error as GatewayError;
    return [status, code, param];
  }
}
const refusalOf = (name: string, value: unknown): unknown[] => refusal(JSON.stringify({ [name]: value }));

it.each([
  'Model',
  'MODEL',
  'ſtream',
  'STREAM',
  'ſeſſion_id',
  'guided_jſon',
  'sessıon_id',
  'sessİon_id',
  'cache_Salt',
  'cacheSalt',
  'topLogprobs',
  'top-logprobs',
  'Best_Of',
  'N',
  'N_Cmpl',
  'Logprobs',
  'ｍｏｄｅｌ',
  '𝓶odel',
  'Response_Format',
  'structured_Outputſ',
  'Prompt_Cache_\u212aey',
  'USER',
])('refuses %s, which an engine could read as a member that the gateway controls', (name) => {
  expect(refusalOf(name, 'x')).toEqual([400, 'ambiguous_parameter', name]);
  const escaped = name.split('').map(escapeOf).join('');
  expect(refusal(`{"model":"a","${escaped}":1}`)).toEqual([400, 'ambiguous_parameter', name]);
});
const escapeOf = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

it('refuses a controlled member that occurs twice, and accepts any other', () => {
  for (const name of ['model', 'stream', 'user', 'session_id', 'cache_salt', 'n'])
    expect(refusal(`{"${name}":1,"${name}":1}`)).toEqual([400, 'ambiguous_parameter', name]);
  expect(refusal('{"n":1,"\\u006e":100}')).toEqual([400, 'ambiguous_parameter', 'n']);
  expect(refusal('{"seed":1,"seed":2,"Seed":3,"modelz":1,"Max_Tokens":2,"":1,"é":1}')).toEqual([]);
  expect(refusal(`{"${'m'.repeat(600)}":1,"${'m'.repeat(600)}":1}`)).toEqual([]);
  // Only the outermost members are those of the request.
  expect(refusal('{"messages":[{"Model":1,"Model":2}]}')).toEqual([]);
});

it.each(['models', 'fallbacks', 'api_base', 'base_url', 'api_key', 'model_list'])(
  'refuses %s, with which a server could choose another model, server or credential',
  (name) => {
    expect(refusalOf(name, ['x'])).toEqual([400, 'unsupported_parameter', name]);
    expect(refusalOf(name.toUpperCase(), ['x'])).toEqual([400, 'ambiguous_parameter', name.toUpperCase()]);
  },
);

it('reads the options of a stream as strictly', () => {
  const code = [400, 'ambiguous_parameter'];
  expect(refusalOf('stream_options', { Include_Usage: true })).toEqual([...code, 'Include_Usage']);
  expect(refusalOf('stream_options', { includeUſage: true })).toEqual([...code, 'includeUſage']);
  expect(refusal('{"stream_options":{"include_usage":true,"include\\u005fusage":false}}')).toEqual([
    ...code,
    'include_usage',
  ]);
  for (const value of [true, 'x', [], 7]) expect(refusalOf('stream_options', value)[1]).toBe('invalid_value');
  for (const value of [null, {}, { include_usage: true, continuous_usage_stats: true }])
    expect(refusalOf('stream_options', value)).toEqual([]);
});

it('accepts a salt for the cache only as a text', () => {
  for (const value of [null, 's', 'x'.repeat(8_000)]) expect(refusalOf('cache_salt', value)).toEqual([]);
  for (const value of ['', 7, true, {}, ['s'], 'x'.repeat(8_192)])
    expect(refusalOf('cache_salt', value)).toEqual([400, 'invalid_value', 'cache_salt']);
});

it.each([
  ['n', 1, 16],
  ['n_cmpl', 1, 16],
  ['best_of', 1, 16],
  ['logprobs', 0, 20],
  ['top_logprobs', 0, 20],
  ['prompt_logprobs', 0, 20],
  ['n_probs', 0, 20],
])('limits %s to whole numbers from %d to %d', (name, least, most) => {
  for (const value of [null, least, most]) expect([value, refusalOf(name, value)]).toEqual([value, []]);
  const wrong = [least - 1, most + 1, -1, 1e9, least + 0.5, String(most + 1), '1', [1], { a: 1 }];
  for (const value of wrong) expect([value, refusalOf(name, value)]).toEqual([value, [400, 'invalid_value', name]]);
  for (const text of ['1e400', '1e2', `[${'1,'.repeat(9_000)}1]`])
    expect(refusal(`{"${name}":${text}}`)).toEqual([400, 'invalid_value', name]);
  expect(refusal(`{"${name}":1.0}`)).toEqual([]);
  // In a chat, `logprobs` is a boolean.
  expect(refusalOf(name, true)).toEqual(least === 0 ? [] : [400, 'invalid_value', name]);
});

it.each(['guided_json', 'guided_choice', 'guided_grammar', 'structured_outputs', 'response_format', 'json_schema'])(
  'limits %s to 64 KiB, and each regular expression in it to 4 KiB',
  (name) => {
    const refused = [400, 'invalid_value', name];
    expect(refusalOf(name, 'g'.repeat(64 * 1024 - 2))).toEqual([]);
    expect(refusalOf(name, 'g'.repeat(64 * 1024 - 1))).toEqual(refused);
    for (const inner of ['regex', 'pattern', 'Regex']) {
      expect(refusalOf(name, { a: [{ [inner]: 'x'.repeat(4_096) }] })).toEqual([]);
      expect(refusalOf(name, { a: [{ [inner]: 'x'.repeat(4_097) }] })).toEqual(refused);
    }
    expect(refusalOf(name, { type: 'regex', value: 'x'.repeat(4_097) })).toEqual(refused);
    expect(refusalOf(name, { type: 'json', value: 'x'.repeat(4_097) })).toEqual([]);
  },
);

it.each(['guided_regex', 'regex', 'guided_whitespace_pattern'])('limits %s to 4 KiB', (name) => {
  expect(refusalOf(name, 'x'.repeat(4_094))).toEqual([]);
  expect(refusalOf(name, 'x'.repeat(4_095))).toEqual([400, 'invalid_value', name]);
});
