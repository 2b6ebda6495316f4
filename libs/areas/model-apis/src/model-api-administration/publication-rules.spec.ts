import { expect, it } from '@jest/globals';
import { isOwnAudience, isOwnSlug, sharesPrefixCache, sharesServer } from './publication-rules.js';

const row = (revision_id: string, result: 'passed' | 'not_applicable') => ({
  revision_id,
  checks: [{ name: 'unknown_model', passed: result === 'passed', result, message: '', duration_ms: 1 }],
});
const revision = (id: string, ...base_urls: string[]) => ({
  id,
  name: `chat-${id}`,
  spec: { endpoint: { base_urls } } as any,
});

it('two revisions on one server that answers to any name are not published together', () => {
  const revisions = [revision('a', 'http://one/v1'), revision('b', 'http://two', 'http://one/')];
  const rows = [row('a', 'not_applicable'), row('b', 'not_applicable')];
  expect(sharesServer(rows, revisions)).toEqual({ name: 'chat-b', url: 'http://one/v1' });
  expect(sharesServer([row('a', 'passed'), row('b', 'passed')], revisions)).toBeUndefined();
  expect(sharesServer(rows, [revision('a', 'http://one'), revision('b', 'http://two')])).toBeUndefined();
  // Two bindings of one revision, and a URL that it names twice, split nothing.
  expect(
    sharesServer([...rows, row('a', 'not_applicable')], [revision('a', 'http://one', 'http://one')]),
  ).toBeUndefined();
});

const tenant = (tenantName: string) => ({ tenantId: 'ten_acme', tenantName, isOperatorTenant: false });
const OPERATOR = { tenantId: 'ten_0', tenantName: 'default', isOperatorTenant: true };

it('the vendor of a slug is the exact name of its tenant', () => {
  expect(isOwnSlug('acme/chat', tenant('acme'))).toBe(true);
  const foreign: [string, string][] = [
    ['openai/gpt-4o', 'acme'],
    ['default/chat', 'acme'],
    ['acme-labs/chat', 'acme'],
    ['acme/chat', 'acme-labs'],
    ['acme/chat', 'Acme'],
    ['acme/chat', 'ａcme'],
    ['a/b', 'a/b'],
    ['a/b', ''],
  ];
  expect(foreign.filter(([slug, name]) => isOwnSlug(slug, tenant(name)))).toEqual([]);
  expect(isOwnSlug('openai/gpt-4o', OPERATOR)).toBe(true);
});

it('only the operator tenant may choose an audience beyond itself', () => {
  const acme = tenant('acme');
  expect(isOwnAudience(undefined, acme)).toBe(true);
  expect(isOwnAudience({ visibility: 'tenant', tenants: [] }, acme)).toBe(true);
  expect(isOwnAudience({ visibility: 'tenant', tenants: ['ten_acme'] }, acme)).toBe(true);
  expect(isOwnAudience({ visibility: 'tenant', tenants: ['ten_acme', 'ten_other'] }, acme)).toBe(false);
  expect(isOwnAudience({ visibility: 'shared', tenants: [] }, acme)).toBe(false);
  expect(isOwnAudience({ visibility: 'shared', tenants: [] }, OPERATOR)).toBe(true);
  expect(isOwnAudience({ visibility: 'tenant', tenants: ['ten_other'] }, OPERATOR)).toBe(true);
});

const SHARED = { visibility: 'shared' as const, tenants: [] };
const among = (...tenants: string[]) => ({ visibility: 'tenant' as const, tenants });
const salted = { weight: 1, hasCacheSalt: true };
const unsalted = { weight: 1, hasCacheSalt: false };

it.each([
  ['several tenants over an engine without cache_salt', SHARED, [unsalted], true],
  ['several tenants over an engine with cache_salt', SHARED, [salted], false],
  ['one tenant over an engine without cache_salt', among(), [unsalted], false],
  ['one tenant over an engine with cache_salt', among(), [salted], false],
  ['two tenants over an engine without cache_salt', among('ten_b'), [unsalted], true],
  ['one tenant that also lists itself', among('ten_a'), [unsalted], false],
  ['several tenants over both engines', SHARED, [salted, unsalted], true],
  [
    'several tenants over an engine without cache_salt that gets no requests',
    SHARED,
    [salted, { ...unsalted, weight: 0 }],
    false,
  ],
])('knows whether a prefix cache is shared by %s', (_case, audience, bindings, expected) => {
  expect(sharesPrefixCache(audience, 'ten_a', bindings)).toBe(expected);
});
