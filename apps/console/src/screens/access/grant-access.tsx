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
import { setAccess } from './set-access.js';

/** Lets an identity in, or changes what the one of `mapping` may do. */
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
    done: ({ display_name, external_user_id }) => `${display_name ?? external_user_id} has access`,
    onDone: onClose,
  });
  return (
    <SchemaDialog
      form={form}
      run={grant}
      title={mapping ? `Access of ${mapping.display_name ?? mapping.external_user_id}` : 'Grant access'}
      description="It holds at the next request of the identity."
      verb={mapping?.access ? 'Change' : 'Grant'}
      onClose={onClose}
      action={accessAction(form.body)}
    >
      <LastAdminNote error={grant.error} />
    </SchemaDialog>
  );
}
