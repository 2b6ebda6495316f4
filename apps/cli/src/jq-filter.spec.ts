import { expect, it } from '@jest/globals';
import { compileFilter } from './jq-filter.js';

const row = { name: 'chat', labels: null, list: [{ x: 1 }, {}], off: false };

it.each([
  ['.none', [null]],
  ['.none.deeper', [null]],
  ['.none["deeper"]', [null]],
  ['.none[0]', [null]],
  ['.none[0].deeper', [null]],
  ['.none[-1]', [null]],
  ['.none[1:3]', [null]],
  ['.labels.team', [null]],
  ['.labels[1:2]', [null]],
  ['.list[7]', [null]],
  ['.list[-1].x', [null]],
  ['.list[0:1]', [[{ x: 1 }]]],
  ['.list[].x', [1, null]],
  ['.none?', [null]],
  ['.none.deeper?', [null]],
  ['.name[]?', []],
  ['[.list[] | .x?]', [[1, null]]],
  ['.none // "none"', ['none']],
  ['.off // "off"', ['off']],
  ['.name // "none"', ['chat']],
  ['.list[].x // 2', [1]],
  ['.name[] // 3', [3]],
  ['{name, none}', [{ name: 'chat', none: null }]],
])('%s is %j, as in jq', (filter, results) => {
  expect([...compileFilter(filter)(row)]).toEqual(results);
});
