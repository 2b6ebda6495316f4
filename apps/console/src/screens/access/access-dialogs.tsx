import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { request } from 'request:setConsoleAccess';
import { useAction } from '../../api/action.js';
import type { AccessMapping } from '../../api/items.js';
import { sessionQuery } from '../../api/who.js';
import { SchemaDialog } from '../../forms/schema-dialog.js';
import { useSchemaForm } from '../../forms/use-schema-form.js';
import { LastAdminNote } from '../../ui/last-admin-note.js';
import { accessAction, type Access } from './access-action.js';
import { grantLayout } from './grant-layout.js';
import type { BodyOf } from '@slipway/sdk';
import { slipway } from '../../api/client.js';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.js';

export function RevokeAccess({ mapping, onClose }: { mapping: AccessMapping; onClose: () => void }) {
  const { provider, external_organization_id, external_user_id, display_name } = mapping;
  const who = display_name ?? external_user_id;
  const body: Access = { provider, external_organization_id, external_user_id, access: false };
  const revoke = useAction({
    run: () => setAccess(body),
    renews: [['console-access']],
    done: `Access revoked for ${who}`,
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`Revoke access for ${who}?`}
      verb="Revoke"
      isDangerous
      isBusy={revoke.isPending}
      error={revoke.error}
      action={accessAction(body)}
      onConfirm={() => revoke.mutate(undefined)}
    >
      <p>
        The next request of {who} from organization {external_organization_id} is rejected, and open event streams end.
        You can grant access again.
      </p>
      <LastAdminNote error={revoke.error} />
    </ConfirmDialog>
  );
}

export const setAccess = (body: Access) => slipway.consoleAccess.set(body as BodyOf<'setConsoleAccess'>);

/** Grants access to an identity, or changes the grant in `mapping`. */
export function GrantAccess({ mapping, onClose }: { mapping?: AccessMapping; onClose: () => void }) {
  const [layout] = useState(() => grantLayout(mapping !== undefined));
  const { data: session } = useQuery(sessionQuery);
  const form = useSchemaForm<Access>(request, layout, {
    value: { ...mapping, scopes: mapping?.access ? mapping.scopes : ['viewer'] },
    fixed: { provider: mapping?.provider ?? session?.identity_provider, access: true },
  });
  const grant = useAction({
    run: setAccess,
    renews: [['console-access']],
    done: ({ display_name, external_user_id }) => `Access granted to ${display_name ?? external_user_id}`,
    onDone: onClose,
  });
  return (
    <SchemaDialog
      form={form}
      run={grant}
      title={mapping ? `Access for ${mapping.display_name ?? mapping.external_user_id}` : 'New access grant'}
      description="It takes effect with the next request of the identity."
      verb={mapping?.access ? 'Change' : 'Grant'}
      onClose={onClose}
      action={accessAction(form.body)}
    >
      <LastAdminNote error={grant.error} />
    </SchemaDialog>
  );
}
