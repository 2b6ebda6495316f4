import { expect, it } from '@jest/globals';
import { linesOf, wordsOf } from './listed-text.js';

it.each<[string, string[]]>([
  ['', []],
  [' , \n', []],
  ['org1', ['org1']],
  ['org1, org2\norg3 org1', ['org1', 'org2', 'org3']],
])('splits %j into the words %j', (text, words) => expect(wordsOf(text)).toEqual(words));

it.each<[string, string[]]>([
  ['', []],
  [' \n\n', []],
  ['org 1, ltd\r\norg2\norg2 ', ['org 1, ltd', 'org2']],
])('splits %j into the lines %j', (text, lines) => expect(linesOf(text)).toEqual(lines));
