import { useState } from 'react';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { TextField } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { highestOf, ScopesField, type Scope } from '../../ui/identity-fields.js';
import { LastAdminNote } from '../../ui/last-admin-note.js';
import { accessAction, type Access } from './access-action.js';
import type { Mapping } from './access-screen.js';

/** Lets an identity in, or changes what the one of `mapping` may do. */
export function GrantAccess({ mapping, onClose }: { mapping?: Mapping; onClose: () => void }) {
  const [organization, setOrganization] = useState(mapping?.external_organization_id ?? '');
  const [user, setUser] = useState(mapping?.external_user_id ?? '');
  const [displayName, setDisplayName] = useState(mapping?.display_name ?? '');
  const [scope, setScope] = useState<Scope>(highestOf(mapping?.scopes ?? []));
  const grant = useAction({
    run: (body: Access) => slipway.consoleAccess.set(body),
    renews: [['console-access']],
    done: ({ display_name, external_user_id }) => `${display_name ?? external_user_id} has access`,
    onDone: onClose,
  });
  const body: Access = {
    provider: 'oidc',
    external_organization_id: organization.trim(),
    external_user_id: user.trim(),
    access: true,
    scopes: [scope],
    ...(displayName.trim() && { display_name: displayName.trim() }),
  };
  return (
    <FormDialog
      title={mapping ? `Access of ${mapping.display_name ?? mapping.external_user_id}` : 'Grant access'}
      description="It holds at the next request of the identity."
      verb={mapping?.access ? 'Change' : 'Grant'}
      onClose={onClose}
      isComplete={body.external_organization_id !== '' && body.external_user_id !== ''}
      isBusy={grant.isPending}
      error={grant.error}
      action={accessAction(body)}
      onSubmit={() => grant.mutate(body)}
    >
      <TextField
        label="Organization"
        autoFocus
        hint="org_id in the provider's tokens: external_organization_id. It must be one of this tenant's."
        required
        readOnly={mapping !== undefined}
        maxLength={255}
        autoComplete="off"
        value={organization}
        onChange={(event) => setOrganization(event.target.value)}
      />
      <TextField
        label="User"
        hint="sub in the provider's tokens: external_user_id."
        required
        readOnly={mapping !== undefined}
        maxLength={255}
        autoComplete="off"
        value={user}
        onChange={(event) => setUser(event.target.value)}
      />
      <TextField
        label="Display name"
        hint="For who reads the list. Left empty it stays as it was."
        maxLength={255}
        autoComplete="off"
        value={displayName}
        onChange={(event) => setDisplayName(event.target.value)}
      />
      <ScopesField value={scope} onChange={setScope} />
      <LastAdminNote error={grant.error} />
    </FormDialog>
  );
}
