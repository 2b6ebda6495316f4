import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JsonRefused, jsonKeyOf, JsonScanner, type JsonBounds, type JsonFault } from './json-scanner.js';

const BOUNDS: JsonBounds = { maxDepth: 64 };

function scanned(text: Uint8Array, pieces: readonly number[] = [], bounds = BOUNDS): JsonScanner {
  const scanner = new JsonScanner(bounds);
  let from = 0;
  for (const length of pieces) {
    scanner.push(text.subarray(from, from + length));
    from += length;
  }
  scanner.push(text.subarray(from));
  scanner.end();
  return scanner;
}

function faultOf(text: string, pieces?: readonly number[], bounds?: JsonBounds): JsonFault | undefined {
  try {
    scanned(Buffer.from(text), pieces, bounds);
    return undefined;
  } catch (error) {
    if (error instanceof JsonRefused) return error.fault;
    throw error;
  }
}

/** Half of a surrogate pair becomes another text in UTF-8. */
function isWellFormed(text: string): boolean {
  return Buffer.from(text).toString() === text;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The members of the outermost object, as `JSON.parse` returns them. */
function membersOf(text: string, pieces?: readonly number[]): [string, unknown][] {
  const bytes = Buffer.from(text);
  return scanned(bytes, pieces)
    .members()
    .map((member) => [
      jsonKeyOf(bytes, member.keyStart, member.keyEnd),
      JSON.parse(bytes.toString('utf8', member.valueStart, member.valueEnd)) as unknown,
    ]);
}

const anyPieces = fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 40 });
const anyJson = fc
  .tuple(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'))
  .map(([value, space]) => JSON.stringify(value, null, space));

describe('valid JSON', () => {
  const GRAMMAR = [...'{}[]:,"\\0129.-+eEu \n\ttrfalsn/\u0001é'];
  /** A text with one position changed. Most are broken, but some are still valid. */
  const anyChanged = fc
    .tuple(anyJson, fc.nat(), fc.nat(2), fc.constantFrom('', ...GRAMMAR))
    .map(([text, where, removed, added]) => {
      const at = where % (text.length + 1);
      return text.slice(0, at) + added + text.slice(at + removed);
    });
  const anyLetters = fc.array(fc.constantFrom(...GRAMMAR), { maxLength: 8 }).map((letters) => letters.join(''));

  it.each([
    ['whole texts', anyJson],
    ['changed texts', anyChanged],
    ['letters', anyLetters],
  ])('is what JSON.parse accepts, in pieces of any size: %s', (_what, texts: fc.Arbitrary<string>) => {
    fc.assert(
      fc.property(texts, anyPieces, (text, pieces) => {
        fc.pre(isWellFormed(text));
        expect(faultOf(text, pieces)).toBe(isJson(text) ? undefined : 'malformed');
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    '',
    ' ',
    '{',
    '[1',
    '"a',
    'tru',
    '-',
    '1.',
    '1e',
    '01',
    '[1,]',
    '{"a":1,}',
    '{"a"}',
    '{}{}',
    '\u00a0{}',
    '"\\u12',
  ])('is not %j', (text) => expect(faultOf(text)).toBe('malformed'));
});

it('refuses half of a surrogate pair on request, in pieces of any size', () => {
  const [high, low] = [fc.constantFrom('\\ud800', '\\uDBFF'), fc.constantFrom('\\udc00', '\\uDfFf')];
  const anyUnit = fc.oneof(high, low, fc.constantFrom('a', '\\n', '\\ue000', '\\ud7FF', '\\\\', '😀'));
  const unicode = { ...BOUNDS, isUnicode: true };
  fc.assert(
    fc.property(fc.array(anyUnit, { maxLength: 6 }), fc.boolean(), anyPieces, (units, isKey, pieces) => {
      const text = isKey ? `{"${units.join('')}":1}` : `["${units.join('')}"]`;
      expect(faultOf(text, pieces)).toBeUndefined();
      const isWhole = isWellFormed(JSON.parse(`"${units.join('')}"`) as string);
      expect(faultOf(text, pieces, unicode)).toBe(isWhole ? undefined : 'lone_surrogate');
    }),
    { numRuns: 2_000 },
  );
});

it('finds the members of the outermost object, in pieces of any size', () => {
  const anyMembers = fc.dictionary(fc.oneof(fc.constantFrom('model', 'x"y', 'é\\'), fc.string()), fc.jsonValue(), {
    noNullPrototype: true,
  });
  fc.assert(
    fc.property(anyMembers, fc.constantFrom(undefined, 2), anyPieces, (object, space, pieces) => {
      const text = JSON.stringify(object, null, space);
      fc.pre(isWellFormed(text));
      expect(membersOf(text, pieces)).toEqual(Object.entries(JSON.parse(text) as object));
    }),
    { numRuns: 500 },
  );
});

it('reads escaped names, and returns a repeated name twice', () => {
  expect(membersOf('{"mod\\u0065l": {"model": 1}, "model": [2]}')).toEqual([
    ['model', { model: 1 }],
    ['model', [2]],
  ]);
});

it.each(['[{"a":1}]', '"a"', '7'])('finds no members in %s', (text) => expect(membersOf(text)).toEqual([]));

it('refuses a text that is nested more deeply than maxDepth', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  expect(faultOf(nested(64))).toBeUndefined();
  expect(faultOf(nested(65))).toBe('too_deep');
  expect(faultOf(`${'{"a":'.repeat(64)}1${'}'.repeat(64)}`)).toBeUndefined();
  expect(faultOf('['.repeat(10_000_000))).toBe('too_deep');
});

it('refuses a text that would take too much work to parse', () => {
  const bounds = { maxDepth: 8, maxWork: 100 };
  // 10 for the array, 1 for each number.
  expect(faultOf(`[${Array(90).fill(7).join()}]`, [], bounds)).toBeUndefined();
  expect(faultOf(`[${Array(91).fill(7).join()}]`, [], bounds)).toBe('too_much');
  // 10 more for each inner array.
  expect(faultOf(`[${Array(9).fill('[]').join()}]`, [], bounds)).toBeUndefined();
  expect(faultOf(`[${Array(10).fill('[]').join()}]`, [], bounds)).toBe('too_much');
  // 10 for the object, 11 for each member.
  expect(faultOf('{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8}', [], bounds)).toBeUndefined();
  expect(faultOf('{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9}', [], bounds)).toBe('too_much');
  expect(faultOf(JSON.stringify('x'.repeat(1_000_000)), [], bounds)).toBeUndefined();
});

it('refuses more outermost members than any client sends', () => {
  const object = (members: number) => `{${Array.from({ length: members }, (_, index) => `"${index}":0`).join()}}`;
  expect(faultOf(object(1_024))).toBeUndefined();
  expect(faultOf(object(1_025))).toBe('too_much');
});

it('scans 32 MiB that block JSON.parse for seconds, each piece quickly, and keeps nothing of them', () => {
  const piece = Buffer.from('[],'.repeat(21_845));
  const scanner = new JsonScanner(BOUNDS);
  scanner.push(Buffer.from('{"messages":['));
  const before = process.memoryUsage().heapUsed;
  let longest = 0;
  for (let sent = 0; sent < 32 * 1024 * 1024; sent += piece.length) {
    const from = process.cpuUsage();
    scanner.push(piece);
    longest = Math.max(longest, process.cpuUsage(from).user / 1_000);
  }
  scanner.push(Buffer.from('[]]}'));
  scanner.end();
  expect(longest).toBeLessThan(50);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(16 * 1024 * 1024);
  expect(scanner.members()).toHaveLength(1);
});
