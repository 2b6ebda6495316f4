import { expect, it } from '@jest/globals';
import { CollectedBytes } from '@slipway/platform-bounds';
import { BodyStart, forbiddenOrIncomplete, positionOfFault, repeatedName } from './json-faults.js';

const collected = (text: string): CollectedBytes => {
  const body = new CollectedBytes();
  body.push(Buffer.from(text));
  return body;
};

it.each([
  ["{'name': 1}", 'line 1, column 2'],
  ['{\n  "name": "a",\n}', 'line 3, column 1'],
  ['{"a": 1} // text', 'line 1, column 10'],
  ['{"a":1}\n{"b":2}', 'line 2, column 1'],
  ['{"é": NaN}', 'line 1, column 7'],
])('names the place where %j stops being JSON', (text, position) => {
  expect(positionOfFault(collected(text))).toBe(`unexpected character at ${position}`);
});

it('reads no long body a second time', () => {
  expect(positionOfFault(collected(`{"a":"${'x'.repeat(70_000)}",}`))).toBeUndefined();
});

it('tells an incomplete text from a forbidden name', () => {
  expect(forbiddenOrIncomplete('{"a":')).toContain('before it is complete');
  expect(forbiddenOrIncomplete('{"__proto__":{}}')).toContain('not allowed');
});

it.each([
  ['{"a":1,"b":2}', undefined],
  ['{"a":1,"a":2}', 'a'],
  ['{"a":{"b":1,"c":{"b":2}},"d":{"b":3}}', undefined],
  ['{"x":[{"b":1},{"b":1, "c":2, "b" : 3}]}', 'b'],
  ['{"a":1,"\\u0061":2}', 'a'],
  ['{"a":"\\"a\\":1,","b":"a"}', undefined],
  ['{"a":"\\\\","a":1}', 'a'],
  ['{"a":["a","a"],"b":"a:"}', undefined],
  ['{"":1,"":2}', ''],
  ['{"__proto__x":1,"toString":2,"toString":3}', 'toString'],
])('finds in %s the repeated name %s', (text, name) => {
  JSON.parse(text);
  expect(repeatedName(text)).toBe(name);
});

it('takes time that grows with the text', () => {
  for (const text of [`{"a":"${'\\\\'.repeat(500_000)}"}`, `{"a":"${'\\"'.repeat(500_000)}"}`]) {
    const start = performance.now();
    expect(repeatedName(text)).toBeUndefined();
    expect(performance.now() - start).toBeLessThan(2_000);
  }
});

it('removes a byte order mark, also one that arrives byte by byte', () => {
  const mark = [0xef, 0xbb, 0xbf];
  const whole = new BodyStart();
  expect(whole.withoutMark(Buffer.from([...mark, 0x7b])).toString()).toBe('{');
  // Only at the start.
  expect(whole.withoutMark(Buffer.from(mark)).length).toBe(3);
  const slow = new BodyStart();
  expect([...mark, 0x7b].map((byte) => slow.withoutMark(Buffer.from([byte])).length)).toEqual([0, 0, 0, 1]);
  expect(() => new BodyStart().withoutMark(Buffer.from([0xef, 0x7b]))).toThrow();
  const cut = new BodyStart();
  expect([cut.withoutMark(Buffer.from([0xef, 0xbb])).length, cut.isIncomplete]).toEqual([0, true]);
  expect([whole.isIncomplete, slow.isIncomplete, new BodyStart().isIncomplete]).toEqual([false, false, false]);
});
