import { expect, it } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import { publishLinks } from './links.js';
import { describeObjectDefaults } from './schemas.js';

const text = { type: 'string' };
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: object) => ({ description: '', content: { 'application/json': { schema } } });
const answers = (operationId: string, responses: Record<string, object> = {}) => ({ operationId, responses });

function documentOf(paths: Record<string, object>, schemas: Record<string, object>): any {
  return { openapi: '3.1.0', info: {}, paths, components: { schemas } } as unknown as OpenAPIObject;
}

const SHELVES = {
  '/api/v1/shelves': {
    get: answers('listShelves', { 200: json(ref('ShelfPage')) }),
    post: answers('createShelf', { 200: json(ref('Rehearsal')), 201: json(ref('Shelf')), 404: json(ref('Shelf')) }),
  },
  '/api/v1/shelves/labels/{id}': { get: answers('getLabel') },
  '/api/v1/shelves/{name}': {
    get: answers('getShelf'),
    delete: answers('deleteShelf', { 202: json(ref('Envelope')) }),
  },
  '/api/v1/shelves/{name}/books': { get: answers('listBooks', { 200: json(ref('BookPage')) }) },
  '/api/v1/shelves/{name}/books/{a}/diff/{b}': { get: answers('diffBooks') },
  '/api/v1/shelves/{name}/books/{book}': { get: answers('getBook') },
  '/api/v1/operations/{id}': { get: answers('getOperation') },
  '/api/v1/operations/{id}/cancel': { post: answers('cancelOperation') },
};
const page = (item: string) => ({ properties: { data: { type: 'array', items: ref(item) }, next_cursor: text } });
const SCHEMAS = {
  Shelf: { properties: { id: text, name: text } },
  Book: { properties: { id: text } },
  ShelfPage: page('Shelf'),
  BookPage: page('Book'),
  Rehearsal: { properties: { valid: text } },
  Envelope: { properties: { operation: ref('Operation'), created: text } },
  Operation: { properties: { id: text } },
};

it('links an answer to the requests about what it made, listed or started', () => {
  const document = documentOf(structuredClone(SHELVES), SCHEMAS);
  publishLinks(document);
  const linksOf = (path: string, method: string, status: string) =>
    Object.fromEntries(
      Object.values<any>(document.paths[path][method].responses[status].links ?? {}).map((link) => [
        link.operationId,
        link.parameters,
      ]),
    );
  const made = { name: '$response.body#/name' };
  expect(linksOf('/api/v1/shelves', 'post', '201')).toEqual({ getShelf: made, deleteShelf: made, listBooks: made });
  const first = { name: '$response.body#/data/0/name' };
  expect(linksOf('/api/v1/shelves', 'get', '200')).toEqual({ getShelf: first, deleteShelf: first, listBooks: first });
  expect(linksOf('/api/v1/shelves/{name}/books', 'get', '200')).toEqual({
    getBook: { name: '$request.path.name', book: '$response.body#/data/0/id' },
  });
  const operation = { id: '$response.body#/operation/id' };
  expect(linksOf('/api/v1/shelves/{name}', 'delete', '202')).toEqual({
    getOperation: operation,
    cancelOperation: operation,
  });
  expect(linksOf('/api/v1/shelves', 'post', '200')).toEqual({});
  expect(linksOf('/api/v1/shelves', 'post', '404')).toEqual({});
});

it('describes the default of an object in words, and keeps that of every other value', () => {
  const document = documentOf(
    {},
    {
      Shelf: {
        properties: {
          size: { allOf: [ref('Size')], description: 'How large it is.', default: { cm: 80 } },
          labels: { type: 'object', default: {} },
          name: { type: 'string', default: 'a' },
          books: { type: 'array', items: { type: 'object', properties: { at: { default: { row: 1 } } } }, default: [] },
          owner: { type: ['string', 'null'], default: null },
        },
      },
    },
  );
  describeObjectDefaults(document);
  expect(document.components.schemas.Shelf.properties).toEqual({
    size: { allOf: [ref('Size')], description: 'How large it is. Default: `{"cm":80}`', 'x-default': { cm: 80 } },
    labels: { type: 'object', description: 'Default: `{}`', 'x-default': {} },
    name: { type: 'string', default: 'a' },
    books: {
      type: 'array',
      items: { type: 'object', properties: { at: { description: 'Default: `{"row":1}`', 'x-default': { row: 1 } } } },
      default: [],
    },
    owner: { type: ['string', 'null'], default: null },
  });
});
