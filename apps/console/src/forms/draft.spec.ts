import { describe, expect, it } from '@jest/globals';
import { draftAt, draftOf, mergePatch, valueOf, withAt } from './draft.js';
import type { Schema } from './schema.js';

const SCHEMA: Schema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    count: { type: ['integer', 'null'] },
    guarded: { type: 'boolean' },
    kind: { type: 'string', enum: ['a', 'b'] },
    scopes: { type: 'array', items: { type: 'string', enum: ['viewer', 'admin'] } },
    types: { type: 'array', items: { type: 'string', pattern: '^[a-z.]+$' } },
    organizations: { type: 'array', items: { type: 'string' } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    env: { type: 'object', additionalProperties: true },
    ends: { type: 'string', format: 'date-time' },
    plan: { type: 'object', properties: { limit: { type: 'number' } } },
    steps: { type: 'array', items: { type: 'object', properties: { share: { type: 'integer' } } } },
  },
};
const VALUE = {
  name: 'chat',
  count: 3,
  guarded: false,
  kind: 'b',
  scopes: ['admin'],
  types: ['a.b', 'c'],
  organizations: ['Acme, Inc.', 'org 2'],
  labels: { team: 'search', note: 'a=b' },
  env: { A: { secret_ref: 'x' } },
  ends: '2026-01-02T03:04:05.000Z',
  plan: { limit: 0.5 },
  steps: [{ share: 10 }, { share: 100 }],
};

const one = (name: string, typed: string) =>
  (valueOf(SCHEMA, { [name]: typed }) as Record<string, unknown> | undefined)?.[name];

describe('a draft', () => {
  it('returns the value that it was made from', () => expect(valueOf(SCHEMA, draftOf(SCHEMA, VALUE))).toEqual(VALUE));

  it('is empty if nothing is set: it sends no empty texts, groups or lists', () => {
    expect(valueOf(SCHEMA, draftOf(SCHEMA, undefined))).toBeUndefined();
    expect(
      valueOf(SCHEMA, draftOf(SCHEMA, { name: ' ', plan: {}, steps: [], scopes: [], count: null })),
    ).toBeUndefined();
  });

  it('sends an empty row, so that the missing fields are reported', () =>
    expect(valueOf(SCHEMA, { steps: [{}] })).toEqual({ steps: [{}] }));

  it('distinguishes an untouched boolean from false', () => {
    expect(valueOf(SCHEMA, { guarded: undefined, name: 'x' })).toEqual({ name: 'x' });
    expect(valueOf(SCHEMA, { guarded: false })).toEqual({ guarded: false });
  });

  it.each([
    ['name', '  chat ', 'chat'],
    ['count', ' 12 ', 12],
    ['count', '1e', '1e'],
    ['count', 'Infinity', 'Infinity'],
    ['types', 'a.b, c\nc', ['a.b', 'c']],
    ['organizations', 'Acme, Inc.\n org 2 ', ['Acme, Inc.', 'org 2']],
    ['labels', ' team=search, note = a=b\ntier=,,', { team: 'search', note: 'a=b', tier: '' }],
    ['labels', 'team', 'team'],
    ['labels', '=search', '=search'],
    ['env', '{"A":1}', { A: 1 }],
    ['env', '{', '{'],
    ['ends', 'soon', 'soon'],
  ])('%s: %j is read as %j', (name, typed, value) => expect(one(name, typed)).toEqual(value));

  it('changes at a path, and nowhere else', () => {
    const draft = draftOf(SCHEMA, VALUE);
    const changed = withAt(draft, ['steps', 1, 'share'], '90');
    expect(draftAt(changed, ['steps', 1, 'share'])).toBe('90');
    expect(valueOf(SCHEMA, changed)).toEqual({ ...VALUE, steps: [{ share: 10 }, { share: 90 }] });
    expect(valueOf(SCHEMA, withAt(undefined, ['plan', 'limit'], '1'))).toEqual({ plan: { limit: 1 } });
    expect(valueOf(SCHEMA, draft)).toEqual(VALUE);
  });
});

describe('the merge patch', () => {
  it('names the differences, removes with null, and replaces lists completely', () =>
    expect(mergePatch({ a: 1, b: { c: 1, d: 2 }, e: [1], f: 'gone' }, { a: 1, b: { c: 1, d: 3 }, e: [1, 2] })).toEqual({
      f: null,
      b: { d: 3 },
      e: [1, 2],
    }));
  it('is empty for the same object in another order', () =>
    expect(mergePatch({ b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 } })).toEqual({}));
});
