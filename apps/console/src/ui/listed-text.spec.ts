import { expect, it } from '@jest/globals';
import { wordsOf } from './listed-text.js';

it.each<[string, string[]]>([
  ['', []],
  [' , \n', []],
  ['org1', ['org1']],
  ['org1, org2\norg3 org1', ['org1', 'org2', 'org3']],
])('takes %j as %j', (text, words) => expect(wordsOf(text)).toEqual(words));
