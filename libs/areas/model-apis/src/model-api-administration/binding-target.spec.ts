import { createSecretKey } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { adoptedUrls, canonicalBaseUrl, targetDigest, targetIssues } from './binding-target.js';

const key = createSecretKey(Buffer.alloc(32, 1));
const supplier = { supplier: 's', base_url: 'http://h/v1', model: 'm' };

it('a target has one complete form', () => {
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

it('names each API of adopted servers once, however the base URLs are written', () => {
  const endpoint = { protocol: 'openai', health_path: '/health' } as const;
  expect(adoptedUrls({ endpoint: { ...endpoint, base_url: 'http://h/v1/', base_urls: ['http://g'] } })).toEqual([
    'http://g/v1',
    'http://h/v1',
  ]);
  expect(adoptedUrls({ endpoint: { ...endpoint, base_url: 'http://h/v1', api_path: '/openai' } })).toEqual([
    'http://h/openai',
  ]);
});

it('equal targets have equal digests, and others differ without disclosing target or credential', () => {
  expect(canonicalBaseUrl('http://h/v1//')).toBe('http://h/v1');
  const digest = targetDigest(key, supplier, 'c');
  expect(targetDigest(key, { ...supplier }, 'c')).toBe(digest);
  expect(targetDigest(key, supplier, undefined)).not.toBe(digest);
  expect(targetDigest(key, { ...supplier, model: 'n' }, 'c')).not.toBe(digest);
  expect(targetDigest(createSecretKey(Buffer.alloc(32, 2)), supplier, 'c')).not.toBe(digest);
  // Another deployment may get the name later, but never the id.
  expect(targetDigest(key, { deployment_id: 'd', revision_id: 'r', deployment: 'x' }, undefined)).toBe(
    targetDigest(key, { deployment_id: 'd', revision_id: 'r', deployment: 'y' }, undefined),
  );
});
