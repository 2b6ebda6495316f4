import { expect, it } from '@jest/globals';
import { loadBucketOf, loadOf } from './load.js';

it('counts only requests that were alone as alone, and has few buckets for the rest', () => {
  expect([0, NaN, 1, 1.02].map(loadBucketOf)).toEqual([0, 0, 0, 0]);
  expect([1.04, 1.4, 1.5, 2.1, 3, 1e9].map(loadBucketOf)).toEqual([1, 1, 2, 3, 4, 17]);
});

it('represents a bucket with a load inside it', () => {
  for (let bucket = 0; bucket <= 17; bucket += 1) expect(loadBucketOf(loadOf(bucket))).toBe(bucket);
});
