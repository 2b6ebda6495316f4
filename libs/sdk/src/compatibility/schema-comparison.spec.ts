import { expect, it } from '@jest/globals';
import { answering, objectOf, taking } from '../../test/documents.js';
import type { Schema } from './document.js';
import { compareDocuments } from './document-comparison.js';

const TEXT = { type: 'string' };

/** [difference, before, after, its changes in a request, its changes in a response] */
const DIFFERENCES: [string, Schema, Schema, string[], string[]][] = [
  ['nothing', { ...TEXT, description: 'old' }, { ...TEXT, description: 'new', example: 'a' }, [], []],
  [
    'a type',
    TEXT,
    { type: 'integer' },
    ['broken is no longer string', 'added may be integer'],
    ['changed is no longer string', 'broken may be integer'],
  ],
  [
    'a wider number',
    { type: 'integer' },
    { type: 'number' },
    ['changed is number instead of integer'],
    ['broken is number instead of integer'],
  ],
  [
    'a narrower number',
    { type: 'number' },
    { type: 'integer' },
    ['broken is integer instead of number'],
    ['changed is integer instead of number'],
  ],
  ['anything', TEXT, {}, ['changed is any instead of string'], ['broken is any instead of string']],
  ['null, now', TEXT, { type: ['string', 'null'] }, ['added may be null'], ['broken may be null']],
  [
    'null, no more',
    { anyOf: [TEXT, { type: 'null' }] },
    TEXT,
    ['broken is no longer null'],
    ['changed is no longer null'],
  ],
  ['values, more', { ...TEXT, enum: ['a'] }, { ...TEXT, enum: ['a', 'b'] }, ['added may be b'], ['changed may be b']],
  [
    'values, fewer',
    { ...TEXT, enum: ['a', 'b'] },
    { ...TEXT, enum: ['b'] },
    ['broken is no longer a'],
    ['changed is no longer a'],
  ],
  ['a list of values', TEXT, { ...TEXT, enum: ['a'] }, ['broken is only one of a'], ['changed is only one of a']],
  [
    'no list of values',
    { ...TEXT, const: 'a' },
    TEXT,
    ['changed is no longer one of a list'],
    ['changed is no longer one of a list'],
  ],
  [
    'a null that is also listed',
    { type: ['string', 'null'], enum: ['a', null] },
    { anyOf: [{ ...TEXT, enum: ['a'] }, { type: 'null' }] },
    [],
    [],
  ],
  [
    'a lower limit, up',
    { ...TEXT, minLength: 1 },
    { ...TEXT, minLength: 2 },
    ['broken minLength is 2 instead of 1'],
    ['changed minLength is 2 instead of 1'],
  ],
  [
    'a lower limit, gone',
    { ...TEXT, minLength: 1 },
    TEXT,
    ['changed minLength is none instead of 1'],
    ['changed minLength is none instead of 1'],
  ],
  [
    'an upper limit, new',
    { type: 'integer' },
    { type: 'integer', maximum: 9 },
    ['broken maximum is 9 instead of none'],
    ['changed maximum is 9 instead of none'],
  ],
  [
    'an upper limit, up',
    { type: 'integer', maximum: 9 },
    { type: 'integer', maximum: 10 },
    ['changed maximum is 10 instead of 9'],
    ['changed maximum is 10 instead of 9'],
  ],
  [
    'a pattern',
    TEXT,
    { ...TEXT, pattern: '^a' },
    ['broken pattern is "^a" instead of none'],
    ['changed pattern is "^a" instead of none'],
  ],
  [
    'a rule for keys',
    { type: 'object' },
    { type: 'object', propertyNames: { minLength: 1 } },
    ['broken propertyNames is {"minLength":1} instead of none'],
    ['changed propertyNames is {"minLength":1} instead of none'],
  ],
  [
    'a format, gone',
    { ...TEXT, format: 'date-time' },
    TEXT,
    ['changed format is none instead of "date-time"'],
    ['broken format is none instead of "date-time"'],
  ],
  [
    'a default',
    { ...TEXT, default: 'a' },
    { ...TEXT, default: 'b' },
    ['changed default is "b" instead of "a"'],
    ['changed default is "b" instead of "a"'],
  ],
  [
    'a keyword nobody knows',
    TEXT,
    { ...TEXT, not: { const: 'a' } },
    ['broken not is {"const":"a"} instead of none'],
    ['broken not is {"const":"a"} instead of none'],
  ],
  ['a field, gone', objectOf({ a: TEXT }), objectOf({}), ['broken .a was removed'], ['broken .a was removed']],
  ['a field, new', objectOf({}), objectOf({ a: TEXT }), ['added .a is new'], ['added .a is new']],
  [
    'a required field, new',
    objectOf({}),
    objectOf({ a: TEXT }, 'a'),
    ['broken .a is new and required'],
    ['added .a is new'],
  ],
  [
    'a field, required',
    objectOf({ a: TEXT }),
    objectOf({ a: TEXT }, 'a'),
    ['broken .a is required'],
    ['changed .a is required'],
  ],
  [
    'a field, optional',
    objectOf({ a: TEXT }, 'a'),
    objectOf({ a: TEXT }),
    ['changed .a is no longer required'],
    ['broken .a is no longer required'],
  ],
  [
    'a field within a list',
    { type: 'array', items: objectOf({ a: TEXT }) },
    { type: 'array', items: objectOf({}) },
    ['broken [].a was removed'],
    ['broken [].a was removed'],
  ],
  [
    'other fields',
    { type: 'object' },
    { type: 'object', additionalProperties: false },
    ['broken has no other fields'],
    ['changed has no other fields'],
  ],
  [
    'the type of other fields',
    { type: 'object', additionalProperties: { type: 'integer' } },
    { type: 'object', additionalProperties: TEXT },
    ['broken .* is no longer integer', 'added .* may be string'],
    ['changed .* is no longer integer', 'broken .* may be string'],
  ],
  [
    'a part of allOf',
    { allOf: [objectOf({ a: TEXT }, 'a'), objectOf({ b: TEXT }, 'b')] },
    objectOf({ a: TEXT, b: TEXT }, 'a', 'b'),
    [],
    [],
  ],
];

it.each(DIFFERENCES)('the comparison reports the changes for %s', (_title, before, after, inRequest, inResponse) => {
  const said = (location: string, documents: [typeof before, typeof after], wrap: typeof taking) =>
    compareDocuments(wrap(documents[0]), wrap(documents[1])).map(({ kind, operation, what }) => {
      expect(operation).toBe('createThing');
      return `${kind} ${what.replace(new RegExp(`^${location} ?`), '')}`;
    });
  expect(said('request body', [before, after], taking)).toEqual(inRequest);
  expect(said('response 200', [before, after], answering)).toEqual(inResponse);
});

it('the comparison names a component instead of its path, once, and ends when components refer to each other', () => {
  const schemas = (...status: string[]): Record<string, Schema> => ({
    Page: objectOf({ data: { type: 'array', items: { $ref: '#/components/schemas/Thing' } } }),
    Thing: objectOf({
      status: { type: 'string', enum: status },
      parent: { $ref: '#/components/schemas/Thing' },
      child: { allOf: [{ $ref: '#/components/schemas/Thing' }], default: null },
      page: { $ref: '#/components/schemas/Page' },
    }),
  });
  const page = { $ref: '#/components/schemas/Page' };
  expect(compareDocuments(answering(page, schemas('on')), answering(page, schemas('on', 'off')))).toEqual([
    { kind: 'changed', operation: 'createThing', what: 'response Thing.status may be off' },
  ]);
});

it('a choice of components is compared by their names', () => {
  const choice = { anyOf: [{ $ref: '#/components/schemas/Thing' }, { $ref: '#/components/schemas/Rehearsal' }] };
  const schemas = { Thing: objectOf({ a: TEXT }, 'a'), Rehearsal: objectOf({ ok: { type: 'boolean' } }, 'ok') };
  const turned = { anyOf: [...choice.anyOf].reverse() };
  expect(compareDocuments(answering(choice, schemas), answering(turned, schemas))).toEqual([]);
  const fewer = { $ref: '#/components/schemas/Thing' };
  expect(compareDocuments(answering(fewer, schemas), answering(choice, schemas))).toEqual([
    { kind: 'broken', operation: 'createThing', what: 'response 200 may be Rehearsal' },
  ]);
});
