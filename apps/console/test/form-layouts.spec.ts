import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { requestSchema } from '../request-schemas.mjs';
import { driftOf, labelOf, moreIn, shownIn, type Layout } from '../src/forms/layout.js';
import { pathText, type Schema } from '../src/forms/schema.js';

const SOURCES = path.resolve(import.meta.dirname, '../src');
const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
const layouts: Layout[] = [];
for (const file of sources.filter((one) => /-layouts?\.ts$|\/layouts\.ts$/.test(one))) {
  const exported = Object.values((await import(path.join(SOURCES, file))) as Record<string, unknown>);
  layouts.push(
    ...exported.filter((one): one is Layout => typeof one === 'object' && one !== null && 'operation' in one),
  );
}

describe('the forms and the document', () => {
  it('has a layout for each request whose schema a screen loads', () => {
    const asked = sources
      .filter((one) => /\.tsx?$/.test(one))
      .flatMap((one) => [...readFileSync(path.join(SOURCES, one), 'utf8').matchAll(/from 'request:(\w+)'/g)])
      .map(([, operation]) => operation!)
      .filter((operation) => Object.keys(requestSchema(operation).properties ?? {}).length > 0);
    expect(asked.length).toBeGreaterThan(10);
    expect([...new Set(layouts.map(({ operation }) => operation))].sort()).toEqual([...new Set(asked)].sort());
  });

  it.each(layouts.map((layout) => [layout.operation, layout] as const))(
    '%s: names existing fields, and hides no required one',
    (operation, layout) => expect(driftOf(layout, requestSchema(operation))).toEqual([]),
  );
});

const SCHEMA: Schema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string' },
    note: { type: 'string' },
    plan: { type: 'object', properties: { kind: { type: 'string' }, limit: { type: 'integer' } } },
    steps: {
      type: 'array',
      items: { type: 'object', properties: { share: { type: 'integer' }, soak: { type: 'integer' } } },
    },
  },
};
const texts = (paths: readonly (readonly (string | number)[])[]) => paths.map(pathText);

describe('a layout', () => {
  const layout: Layout = { operation: 'x', shown: { '': ['plan', 'name'], plan: ['kind'], 'steps[]': ['share'] } };

  it('shows the named fields in their order, and folds all others', () => {
    expect(texts(shownIn(layout, SCHEMA, []))).toEqual(['plan', 'name']);
    expect(texts(moreIn(layout, SCHEMA, []))).toEqual(['note', 'plan.limit', 'steps']);
    expect(texts(moreIn(layout, SCHEMA, ['steps', 3]))).toEqual(['steps[3].soak']);
  });

  it('neither shows nor folds the fields that the screen sets', () => {
    const fixed: Layout = { ...layout, fixed: ['name', 'steps', 'plan.limit'] };
    expect(texts(shownIn(fixed, SCHEMA, []))).toEqual(['plan']);
    expect(texts(moreIn(fixed, SCHEMA, []))).toEqual(['note']);
  });

  it('drifts if it names a nonexistent field, at any depth', () =>
    expect(
      driftOf(
        { ...layout, shown: { '': ['name', 'nmae'], 'steps[]': ['sake'] }, fixed: ['plan.x'], words: { y: {} } },
        SCHEMA,
      ),
    ).toEqual(['nmae', 'steps[].sake', 'plan.x', 'y'].map((name) => `x has no field ${name}`)));

  it('drifts if it folds away a required field', () =>
    expect(driftOf({ ...layout, shown: { '': ['note'] } }, SCHEMA)).toEqual(['x needs name, which its form hides']));
});

it.each([
  ['display_name', 'Display name'],
  ['base_url', 'Base URL'],
  ['soak_seconds', 'Soak, s'],
  ['seconds', 'Seconds'],
])('%s is labelled %s', (name, label) => expect(labelOf(name)).toBe(label));
