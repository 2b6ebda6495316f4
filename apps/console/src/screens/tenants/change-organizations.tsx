import { useState } from 'react';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { linesOf } from '../../ui/listed-text.js';
import { shellLine } from '../../ui/shell-line.js';
import { OrganizationsField } from './organizations-field.js';
import type { Tenant } from './tenants-screen.js';

export function ChangeOrganizations({ tenant, onClose }: { tenant: Tenant; onClose: () => void }) {
  const [organizations, setOrganizations] = useState(tenant.external_organization_ids.join('\n'));
  const ids = linesOf(organizations);
  const body = { external_organization_ids: ids };
  const change = useAction({
    run: () => slipway.tenants.update(tenant.id, body),
    renews: [['tenants']],
    done: `The organizations of ${tenant.name} are changed`,
    onDone: onClose,
  });
  const lost = tenant.external_organization_ids.filter((id) => !ids.includes(id));
  return (
    <FormDialog
      title={`Organizations of ${tenant.name}`}
      verb="Change"
      isDangerous={lost.length > 0}
      onClose={onClose}
      isBusy={change.isPending}
      error={change.error}
      action={{
        curl: { method: 'PATCH', path: `/api/v1/tenants/${encodeURIComponent(tenant.id)}`, body },
        cli: shellLine('slipway', 'tenants', 'update', tenant.id, '--external-organization-ids', ids.join(',')),
      }}
      onSubmit={() => change.mutate(undefined)}
    >
      <OrganizationsField value={organizations} onChange={setOrganizations} />
      {lost.length > 0 && (
        <p className="rounded-md bg-warn-soft p-3 text-sm text-warn">
          {lost.length === 1 ? 'One organization is' : `${lost.length} organizations are`} taken away: their users
          cannot sign in to {tenant.name} any more.
        </p>
      )}
    </FormDialog>
  );
}
