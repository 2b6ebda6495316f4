import type { Layout } from '../../forms/layout.js';

/** @param isKnown the identity exists: the fields that name it cannot be changed */
export const grantLayout = (isKnown: boolean): Layout => ({
  operation: 'setConsoleAccess',
  shown: { '': ['external_organization_id', 'external_user_id', 'display_name', 'scopes'] },
  fixed: ['provider', 'access'],
  words: {
    external_organization_id: { label: 'Organization', isReadOnly: isKnown },
    external_user_id: { label: 'User', isReadOnly: isKnown },
  },
});

export const SET_CONSOLE_ACCESS = grantLayout(false);

/** The command has a verb for what the api has a field for. */
export const accessCli = (verb: 'grant' | 'revoke') => ({
  words: `access ${verb}`,
  args: ['external_user_id'],
  flags: {
    external_organization_id: '--organization',
    access: () => [],
    provider: (provider: string) => (provider === 'oidc' ? [] : ['--provider', provider]),
  },
  end: verb === 'revoke' ? '--yes' : undefined,
});
