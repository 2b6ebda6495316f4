import { expect, it } from '@jest/globals';
import { accessAction } from './access-action.js';

const ADA = { provider: 'oidc', external_organization_id: 'org1', external_user_id: 'user 1' } as const;

it('makes the command that grants', () =>
  expect(accessAction({ ...ADA, access: true, scopes: ['viewer'], display_name: "Ada O'Neil" }).cli).toBe(
    `slipway access grant 'user 1' --organization org1 --scopes viewer --display-name 'Ada O'\\''Neil'`,
  ));

it('names an identity provider with a custom name', () =>
  expect(accessAction({ ...ADA, provider: 'acme-id', access: true }).cli).toBe(
    `slipway access grant 'user 1' --organization org1 --provider acme-id`,
  ));

it('makes the command that revokes, which does not prompt', () =>
  expect(accessAction({ ...ADA, access: false }).cli).toBe(`slipway access revoke 'user 1' --organization org1 --yes`));
