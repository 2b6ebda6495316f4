import { expect, it } from '@jest/globals';
import { isOwnAudience, isOwnSlug } from './publisher-rules.js';

const tenant = (tenantName: string) => ({ tenantId: 'ten_acme', tenantName, isOperatorTenant: false });
const OPERATOR = { tenantId: 'ten_0', tenantName: 'default', isOperatorTenant: true };

it('10.2: the vendor of a slug is the name of its tenant, to the letter', () => {
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

it('10.2: an audience beyond its tenant is for the operator tenant', () => {
  const acme = tenant('acme');
  expect(isOwnAudience(undefined, acme)).toBe(true);
  expect(isOwnAudience({ visibility: 'tenant', tenants: [] }, acme)).toBe(true);
  expect(isOwnAudience({ visibility: 'tenant', tenants: ['ten_acme'] }, acme)).toBe(true);
  expect(isOwnAudience({ visibility: 'tenant', tenants: ['ten_acme', 'ten_other'] }, acme)).toBe(false);
  expect(isOwnAudience({ visibility: 'shared', tenants: [] }, acme)).toBe(false);
  expect(isOwnAudience({ visibility: 'shared', tenants: [] }, OPERATOR)).toBe(true);
  expect(isOwnAudience({ visibility: 'tenant', tenants: ['ten_other'] }, OPERATOR)).toBe(true);
});
