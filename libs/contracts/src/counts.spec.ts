import { expect, it } from '@jest/globals';
import { counted, countedAre } from './counts.js';

it.each([
  [0, '0 requests', '0 requests are'],
  [1, '1 request', '1 request is'],
  [2, '2 requests', '2 requests are'],
])('counts %i in words that fit', (count, noun, sentence) => {
  expect([counted(count, 'request'), countedAre(count, 'request')]).toEqual([noun, sentence]);
});
