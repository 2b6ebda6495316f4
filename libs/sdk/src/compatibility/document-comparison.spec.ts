import { expect, it } from '@jest/globals';
import { documentOf } from '../../test/documents.js';
import type { OpenApi, DocumentedOperation } from './document.js';
import { compareDocuments } from './document-comparison.js';

const JSON_BODY = { 'application/json': { schema: { type: 'object' } } };
const query = (name: string, required = false) => ({ name, in: 'query', required, schema: { type: 'string' } });

const said = (before: OpenApi, after: OpenApi): string[] =>
  compareDocuments(before, after).map(({ kind, operation, what }) => `${kind} ${operation}: ${what}`);

/** [difference, before, after, its changes, the changes in the opposite direction] */
const DIFFERENCES: [string, Partial<DocumentedOperation>, Partial<DocumentedOperation>, string[], string[]][] = [
  ['texts', { summary: 'Make one', tags: ['a'] }, { summary: 'Make a thing', tags: ['b'] }, [], []],
  [
    'the scope',
    {},
    { 'x-required-scope': 'admin' },
    ['broken requires the scope admin instead of operator'],
    ['changed requires the scope operator instead of admin'],
  ],
  [
    'the name',
    {},
    { operationId: 'makeThing' },
    ['broken was renamed to makeThing'],
    ['broken was renamed to createThing'],
  ],
  [
    'the sign-in',
    {},
    { security: [{ bearer: [] }] },
    ['broken has a different security'],
    ['broken has a different security'],
  ],
  ['its age', {}, { deprecated: true }, ['changed has a different deprecated'], ['changed has a different deprecated']],
  [
    'a parameter',
    {},
    { parameters: [query('a')] },
    ['added query parameter a is new'],
    ['broken query parameter a was removed'],
  ],
  [
    'a required parameter',
    {},
    { parameters: [query('a', true)] },
    ['broken query parameter a is new and required'],
    ['broken query parameter a was removed'],
  ],
  [
    'whether a parameter is required',
    { parameters: [query('a')] },
    { parameters: [query('a', true)] },
    ['broken query parameter a is required'],
    ['changed query parameter a is no longer required'],
  ],
  [
    'the case of a header',
    { parameters: [{ name: 'If-Match', in: 'header' }] },
    { parameters: [{ name: 'if-match', in: 'header' }] },
    [],
    [],
  ],
  [
    'a body',
    {},
    { requestBody: { content: JSON_BODY } },
    ['added request body may be application/json'],
    ['broken request body is no longer application/json'],
  ],
  [
    'whether a body is required',
    { requestBody: { content: JSON_BODY } },
    { requestBody: { required: true, content: JSON_BODY } },
    ['broken request body is required'],
    ['changed request body is no longer required'],
  ],
  [
    'a status',
    {},
    { responses: { 202: { content: JSON_BODY } } },
    ['changed response 202 is new'],
    ['broken response 202 was removed'],
  ],
  [
    'an error',
    { responses: { 404: { 'x-error-codes': ['a'] } } },
    { responses: { 404: { 'x-error-codes': ['a', 'b'] } } },
    ['changed error b (404) is new'],
    ['broken error b (404) was removed'],
  ],
  [
    'the status of an error',
    { responses: { 404: { 'x-error-codes': ['a'] } } },
    { responses: { 410: { 'x-error-codes': ['a'] } } },
    ['broken error a has the status 410 instead of 404', 'changed response 410 is new'],
    ['broken error a has the status 404 instead of 410', 'changed response 404 is new'],
  ],
];

it.each(DIFFERENCES)('the comparison reports the changes for %s', (_title, before, after, there, back) => {
  const brief = (lines: string[]): string[] => lines.map((line) => line.replace(/ (createThing|makeThing):/, ''));
  expect(brief(said(documentOf(before), documentOf(after)))).toEqual(there);
  expect(brief(said(documentOf(after), documentOf(before)))).toEqual(back);
});

it('the comparison reports added and removed operations', () => {
  const { post } = documentOf().paths['/things']!;
  const more: OpenApi = {
    ...documentOf(),
    paths: { '/things': { post: post!, get: { operationId: 'listThings', responses: {} } } },
  };
  expect(said(documentOf(), more)).toEqual(['added listThings: GET /things']);
  expect(said(more, documentOf())).toEqual(['broken listThings: GET /things was removed']);
});

it('the comparison reports changes of every operation', () => {
  expect(said(documentOf(), { ...documentOf(), servers: [{ url: '/v2' }] })).toEqual([
    'broken document: has different servers or security schemes',
  ]);
});
