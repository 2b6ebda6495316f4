import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

/** A request may have only the values that the api accepts; a later api may answer with more. */
const TYPES = readFileSync(new URL('generated/api.ts', import.meta.url), 'utf8');
const DOCUMENT = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'));
const OPERATIONS = Object.values<any>(DOCUMENT.paths).flatMap((methods) => Object.values<any>(methods));
const ANY_TEXT = '(string & {})';

/** Returns the text of each named type between two lines of the generated file. */
function typesIn(begin: string, indent: number): Map<string, string> {
  const from = TYPES.indexOf(begin);
  const end = TYPES.indexOf('\n}', from);
  const pattern = new RegExp(`^ {${indent}}(\\w+): \\{\\n(.*?)^ {${indent}}\\};$`, 'gms');
  return new Map([...TYPES.slice(from, end).matchAll(pattern)].map(([, name, text]) => [name!, text!]));
}

const schemas = typesIn('export interface components {', 8);
const operations = typesIn('export interface operations {', 4);

/** Returns the names of the schemas that a text refers to, directly or not. */
function schemasOf(text: string, found = new Set<string>()): Set<string> {
  for (const [, name] of text.matchAll(/components\["schemas"\]\["(\w+)"\]/g))
    if (!found.has(name!)) {
      found.add(name!);
      schemasOf(schemas.get(name!) ?? '', found);
    }
  return found;
}

/** Returns a part of each operation: its parameters and body, or its answers. */
function partsOf(isAnswer: boolean): string {
  const parts = [...operations.values()].map((text) => {
    const at = text.indexOf('        responses: {');
    return isAnswer ? text.slice(at) : text.slice(0, at);
  });
  return parts.join('\n');
}

it('a request takes only the listed values', () => {
  expect([operations.size, schemas.size > 100]).toEqual([OPERATIONS.length, true]);
  const requested = partsOf(false);
  expect(requested).not.toContain(ANY_TEXT);
  const open = [...schemasOf(requested)].filter((name) => schemas.get(name)?.includes(ANY_TEXT));
  expect(open).toEqual([]);
  expect(schemas.get('StrategyInputDto')).toMatch(/^ +type: "candidate" .*"auto";$/m);
});

it('an answer may have other values than the listed ones', () => {
  const closed = [...schemasOf(partsOf(true))].filter((name) =>
    /^ +\w+\??: "\w+"(?: \| "\w+")+(?: \| null)?;$/m.test(schemas.get(name) ?? ''),
  );
  expect(closed).toEqual([]);
  expect(schemas.get('OperationDto')).toMatch(/^ +status: .*\| \(string & \{\}\);$/m);
  expect(schemas.get('StrategyDto')).toMatch(/^ +type: .*\| \(string & \{\}\);$/m);
});
