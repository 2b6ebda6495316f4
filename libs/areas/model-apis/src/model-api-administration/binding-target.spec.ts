import { createSecretKey } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { canonicalBaseUrl, targetDigest, targetIssues } from './binding-target.js';

const key = createSecretKey(Buffer.alloc(32, 1));
const supplier = { supplier: 's', base_url: 'http://h/v1', model: 'm' };

it('takes one form, whole', () => {
  expect(targetIssues({ deployment: 'a', revision: '1' })).toEqual([]);
  expect(targetIssues(supplier)).toEqual([]);
  expect(targetIssues({ ...supplier, credential: 'c' })).toEqual([]);
  expect(targetIssues({}).map(({ field, code }) => [field, code])).toEqual([['target', 'required']]);
  expect(targetIssues({ ...supplier, revision: '1' }).map(({ field, code }) => [field, code])).toEqual([
    ['target', 'ambiguous'],
  ]);
  expect(targetIssues({ credential: 'c' }).map(({ field }) => field)).toEqual([
    'target.supplier',
    'target.base_url',
    'target.model',
  ]);
});

it('takes equal targets for equal, and tells different ones and credentials apart without disclosing them', () => {
  expect(canonicalBaseUrl('http://h/v1//')).toBe('http://h/v1');
  const digest = targetDigest(key, supplier, 'c');
  expect(targetDigest(key, { ...supplier }, 'c')).toBe(digest);
  expect(targetDigest(key, supplier, undefined)).not.toBe(digest);
  expect(targetDigest(key, { ...supplier, model: 'n' }, 'c')).not.toBe(digest);
  expect(targetDigest(createSecretKey(Buffer.alloc(32, 2)), supplier, 'c')).not.toBe(digest);
  // The name of a deployment may be taken by another one later; its id may not.
  expect(targetDigest(key, { deployment_id: 'd', revision_id: 'r', deployment: 'x' }, undefined)).toBe(
    targetDigest(key, { deployment_id: 'd', revision_id: 'r', deployment: 'y' }, undefined),
  );
});
