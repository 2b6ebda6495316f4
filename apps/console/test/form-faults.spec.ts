import { beforeAll, describe, expect, it } from '@jest/globals';
import { requestModule, requestSchema } from '../request-schemas.mjs';
import { faultsOf, refusedFields } from '../src/forms/faults.js';
import type { RequestSchema } from '../src/forms/schema.js';

let module: string;
let request: RequestSchema;
beforeAll(async () => {
  module = await requestModule('createRollout');
  // As a browser does: only the compiled module is loaded.
  ({ request } = (await import(`data:text/javascript,${encodeURIComponent(module)}`)) as { request: RequestSchema });
});

const SPEC = { model: { id: 'llama' }, runtime: { target: 'local' } };

describe("the schema's faults in a body", () => {
  it('are empty if it is complete, with fields of a later api included', () =>
    expect(faultsOf(request, { spec: SPEC, colour: 'red' })).toEqual({}));

  it.each<[string, object, Record<string, string>]>([
    ['a missing field', { spec: { runtime: {} } }, { 'spec.model': 'required', 'spec.runtime.target': 'required' }],
    ['a string for a number', { progress_deadline_seconds: '1m' }, { progress_deadline_seconds: 'type' }],
    ['a number beyond its limits', { progress_deadline_seconds: 0 }, { progress_deadline_seconds: 'minimum' }],
    [
      'a field of a row',
      { strategy: { type: 'canary', steps: [{ traffic_percent: 1.5 }] } },
      { 'strategy.steps[0].traffic_percent': 'type' },
    ],
    ['a word that is not allowed', { strategy: { type: 'slow' } }, { 'strategy.type': 'enum' }],
    ['a string that is too long', { reason: 'x'.repeat(2001) }, { reason: 'maxLength' }],
  ])('are at their field: %s', (_, body, keywords) =>
    expect(
      Object.fromEntries(Object.entries(faultsOf(request, body)).map(([field, fault]) => [field, fault.keyword])),
    ).toEqual(keywords),
  );

  it('count characters as the api does, not UTF-16 halves', () => {
    expect(faultsOf(request, { reason: '😀'.repeat(2000) })).toEqual({});
    expect(Object.keys(faultsOf(request, { reason: '😀'.repeat(2001) }))).toEqual(['reason']);
  });

  it('say in words how to fix them', () => {
    const text = (body: object) => Object.values(faultsOf(request, body))[0]!.text;
    expect(text({ progress_deadline_seconds: 0 })).toBe('At least 1');
    expect(text({ progress_deadline_seconds: 1.5 })).toBe('A whole number');
    expect(text({ spec: { ...SPEC, runtime: { target: 'local', env: '{' } } })).toBe('A JSON object');
    expect(text({ spec: { ...SPEC, probes: { path: 'health' } } })).toBe('Must match ^\\/');
  });

  it('name the faulty word of a list, at the field of the list', () => {
    const base_urls = ['http://a', ''];
    expect(faultsOf(request, { spec: { ...SPEC, endpoint: { base_urls } } })).toEqual({
      'spec.endpoint.base_urls': { text: ': At least 1 character', keyword: 'minLength' },
    });
  });
});

it('needs no code that is made in the browser', () => {
  expect(module).not.toMatch(/\beval\(|new Function|^import /m);
});

it("shows the api's refusals at their fields, the deepest that the form has", () => {
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
