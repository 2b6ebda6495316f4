import type { BodyOf } from '@slipway/sdk';
import { request as deletion } from 'request:deleteConsoleAccess';
import { request as setting } from 'request:setConsoleAccess';
import { defineAction, type Action } from '../../actions/action.js';
import { slipway } from '../../api/client.js';
import type { AccessMapping } from '../../api/items.js';
import { accessCli, grantLayout } from './grant-layout.js';

const GRANT = {
  request: setting,
  description: 'It takes effect with the next request of the identity.',
  ids: () => [],
  run: (_: unknown, body: BodyOf<'setConsoleAccess'>) => slipway.consoleAccess.set(body),
  done: (mapping: AccessMapping) => `Access granted to ${nameOf(mapping)}`,
};

export const nameOf = ({ display_name, external_user_id }: AccessMapping) => display_name ?? external_user_id;

/** @param provider the name that this installation gives its identity provider */
export const grantTo = (provider: string | undefined): Action =>
  defineAction<'setConsoleAccess'>()({
    ...GRANT,
    verb: 'Grant',
    button: 'Grant access',
    title: () => 'New access grant',
    layout: () => grantLayout(false),
    value: () => ({ scopes: ['viewer'] }),
    fixed: () => ({ provider, access: true }),
    cli: accessCli('grant'),
  });

export const ACCESS_ACTIONS: readonly Action<AccessMapping>[] = [
  ...[true, false].map((isGranted) =>
    defineAction<'setConsoleAccess'>()<AccessMapping>({
      ...GRANT,
      verb: isGranted ? 'Change' : 'Grant again',
      isFor: ({ access }) => access === isGranted,
      title: (mapping) => `Access for ${nameOf(mapping)}`,
      layout: () => grantLayout(true),
      value: (mapping) => (isGranted ? mapping : { ...mapping, scopes: ['viewer'] }),
      fixed: ({ provider }) => ({ provider, access: true }),
      cli: accessCli('grant'),
    }),
  ),
  defineAction<'setConsoleAccess'>()<AccessMapping>({
    ...GRANT,
    verb: 'Revoke',
    isFor: ({ access }) => access,
    isDangerous: true,
    title: (mapping) => `Revoke access for ${nameOf(mapping)}?`,
    effect: (mapping) => (
      <p>
        The next request of {nameOf(mapping)} from organization {mapping.external_organization_id} is rejected, and open
        event streams end. You can grant access again.
      </p>
    ),
    fixed: ({ provider, external_organization_id, external_user_id }) => ({
      provider,
      external_organization_id,
      external_user_id,
      access: false,
    }),
    cli: accessCli('revoke'),
    done: (mapping) => `Access revoked for ${nameOf(mapping)}`,
  }),
  defineAction<'deleteConsoleAccess'>()<AccessMapping>({
    request: deletion,
    verb: 'Delete',
    isFor: ({ access }) => !access,
    isDangerous: true,
    title: (mapping) => `Delete the entry of ${nameOf(mapping)}?`,
    effect: () => <p>This tenant then does not know the identity. Its requests get 401 instead of 403.</p>,
    cli: { words: 'access delete', end: '--yes' },
    run: ({ id }) => slipway.consoleAccess.delete(id),
    done: () => 'Entry deleted',
  }),
];
