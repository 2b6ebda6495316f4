import { expect, it } from '@jest/globals';
import { hashSecret, parseToken } from '@slipway/contracts';
import type { SlipwayError } from '../index.js';
import { principalOf, makeToken, withIncluded } from './token.service.js';
import type { TokenLookup } from './token.query.js';

const row = (rest: Partial<TokenLookup> = {}): TokenLookup => ({
  key: 'tok_1',
  tenant_id: 'ten',
  name: 'laptop',
  tenant_name: 'acme',
  is_operator: false,
  scopes: ['operator'],
  owner_type: 'person',
  owner_id: 'bob',
  minters: [{ type: 'person', id: 'operator' }],
  secret_sha256: hashSecret('right'),
  is_revoked: false,
  is_expired: false,
  is_use_due: false,
  ...rest,
});

function outcome(found: TokenLookup | undefined, secret = 'right'): string {
  try {
    return principalOf(found, secret).actor.id;
  } catch (error) {
    return (error as SlipwayError).code;
  }
}

it('recognises the holder of a token by its secret alone', () => {
  expect(principalOf(row(), 'right')).toEqual({
    tenantId: 'ten',
    tenantName: 'acme',
    isOperatorTenant: false,
    actor: { type: 'token', id: 'tok_1', name: 'laptop' },
    scopes: new Set(['viewer', 'operator']),
    owner: { type: 'person', id: 'bob' },
    minters: [{ type: 'person', id: 'operator' }],
    access: [expect.anything()],
  });
  expect(principalOf(row({ is_operator: true }), 'right').isOperatorTenant).toBe(true);
  expect([outcome(undefined), outcome(row(), 'wrong'), outcome(row(), '')]).toEqual(
    new Array(3).fill('unauthenticated'),
  );
});

it('reports that a token has expired only to its holder, and does not report that one is revoked', () => {
  expect(outcome(row({ is_expired: true }))).toBe('token_expired');
  expect(outcome(row({ is_expired: true }), 'wrong')).toBe('unauthenticated');
  expect(outcome(row({ is_revoked: true }))).toBe('unauthenticated');
  expect(outcome(row({ is_revoked: true, is_expired: true }))).toBe('unauthenticated');
});

it('makes tokens that parse back, each with 256 random bits', () => {
  const first = makeToken();
  const second = makeToken();
  expect(parseToken(first.text)).toEqual({ id: first.id, secret: first.secret });
  expect(Buffer.from(first.secret, 'base64url')).toHaveLength(32);
  expect(first.secret).not.toBe(second.secret);
});

it('requires later the highest scope that it had, or one that includes it', () => {
  const kept = (scopes: string[]) =>
    principalOf(row({ scopes }), 'right').access?.map(({ values }) => values(false)[1]);
  expect([kept(['viewer']), kept(['operator', 'viewer']), kept(['admin'])]).toEqual([
    [['viewer', 'operator', 'admin']],
    [['operator', 'admin']],
    [['admin']],
  ]);
});

it('includes lower scopes in higher ones', () => {
  expect([...withIncluded(['admin'])]).toEqual(['viewer', 'operator', 'admin']);
  expect([...withIncluded(['operator', 'viewer'])]).toEqual(['viewer', 'operator']);
  expect([...withIncluded([])]).toEqual([]);
});
