import { beforeAll, describe, expect, it } from '@jest/globals';
import { requestModule, requestSchema } from '../request-schemas.mjs';
import { faultsOf, refusedFields } from '../src/forms/faults.js';
import type { RequestSchema } from '../src/forms/schema.js';

let module: string;
let request: RequestSchema;
beforeAll(async () => {
  module = await requestModule('createRollout');
  // As a browser does it: what was compiled is loaded, and nothing else.
  ({ request } = (await import(`data:text/javascript,${encodeURIComponent(module)}`)) as { request: RequestSchema });
});

const SPEC = { model: { id: 'llama' }, runtime: { target: 'local' } };

describe('what the schema has against a body', () => {
  it('is nothing where it is whole, fields of a later api included', () =>
    expect(faultsOf(request, { spec: SPEC, colour: 'red' })).toEqual({}));

  it.each<[string, object, Record<string, string>]>([
    ['a missing field', { spec: { runtime: {} } }, { 'spec.model': 'required', 'spec.runtime.target': 'required' }],
    ['a text for a number', { progress_deadline_seconds: '1m' }, { progress_deadline_seconds: 'type' }],
    ['a number beyond its limits', { progress_deadline_seconds: 0 }, { progress_deadline_seconds: 'minimum' }],
    [
      'a field of a row',
      { strategy: { type: 'canary', steps: [{ traffic_percent: 1.5 }] } },
      { 'strategy.steps[0].traffic_percent': 'type' },
    ],
    ['a word that is no choice', { strategy: { type: 'slow' } }, { 'strategy.type': 'enum' }],
    ['a text too long', { reason: 'x'.repeat(2001) }, { reason: 'maxLength' }],
  ])('is at its field: %s', (_, body, keywords) =>
    expect(
      Object.fromEntries(Object.entries(faultsOf(request, body)).map(([field, fault]) => [field, fault.keyword])),
    ).toEqual(keywords),
  );

  it('counts characters as the api does, not halves of them', () => {
    expect(faultsOf(request, { reason: '😀'.repeat(2000) })).toEqual({});
    expect(Object.keys(faultsOf(request, { reason: '😀'.repeat(2001) }))).toEqual(['reason']);
  });

  it('says in words what is to be done', () => {
    const text = (body: object) => Object.values(faultsOf(request, body))[0]!.text;
    expect(text({ progress_deadline_seconds: 0 })).toBe('At least 1');
    expect(text({ progress_deadline_seconds: 1.5 })).toBe('A whole number');
    expect(text({ spec: { ...SPEC, runtime: { target: 'local', env: '{' } } })).toBe('A JSON object');
    expect(text({ spec: { ...SPEC, probes: { path: 'health' } } })).toBe('Must match ^\\/');
  });

  it('names the word of a list that it is about, at the field of the list', () => {
    const base_urls = ['http://a', ''];
    expect(faultsOf(request, { spec: { ...SPEC, endpoint: { base_urls } } })).toEqual({
      'spec.endpoint.base_urls': { text: ': At least 1 character', keyword: 'minLength' },
    });
  });
});

it('needs no code made in the browser', () => {
  expect(module).not.toMatch(/\beval\(|new Function|^import /m);
});

it('lands what the api refused at its fields, the deepest that the form has', () => {
  const schema = requestSchema('createRollout');
  const details = [
    { field: 'strategy.steps[1].soak_seconds', message: 'too long' },
    { field: 'spec.runtime.args.ttft_ms', message: 'no number' },
    { field: 'spec.runtime.args.tokens', message: 'another' },
    { field: 'spec_patch.scaling.idle_seconds', message: 'not so' },
  ];
  expect(refusedFields(schema, details, { spec_patch: 'spec' })).toEqual({
    'strategy.steps[1].soak_seconds': { text: 'too long', keyword: 'refused' },
    'spec.runtime.args': { text: 'no number', keyword: 'refused' },
    'spec.scaling.idle_seconds': { text: 'not so', keyword: 'refused' },
  });
});
