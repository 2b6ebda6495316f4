import type { BodyOf } from '@slipway/sdk';
import { shellLine } from '../../ui/text/shell-line.js';

/** The document knows the usual name of the identity provider; an installation may have another. */
export type Access = Omit<BodyOf<'setConsoleAccess'>, 'provider'> & { provider: string };

/** The action as curl and as CLI. */
export function accessAction(body: Access) {
  const { provider, access, external_user_id = '', external_organization_id = '', scopes, display_name } = body;
  const words = ['slipway', 'access', access ? 'grant' : 'revoke', external_user_id];
  words.push('--organization', external_organization_id);
  if (scopes) words.push('--scopes', scopes.join(','));
  if (display_name) words.push('--display-name', display_name);
  if (provider !== 'oidc') words.push('--provider', provider);
  if (!access) words.push('--yes');
  return { curl: { method: 'PUT', path: '/api/v1/console/access', body }, cli: shellLine(...words) };
}
