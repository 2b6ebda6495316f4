import type { BodyOf } from '@slipway/sdk';
import { request } from 'request:updateTenant';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import type { Tenant } from '../../api/items.js';
import { SchemaDialog } from '../../forms/schema-dialog.js';
import { useSchemaForm } from '../../forms/use-schema-form.js';
import { shellLine } from '../../ui/text/shell-line.js';
import { UPDATE_TENANT } from './layouts.js';

export function ChangeOrganizations({ tenant, onClose }: { tenant: Tenant; onClose: () => void }) {
  const form = useSchemaForm<BodyOf<'updateTenant'>>(request, UPDATE_TENANT, { value: tenant });
  const { external_organization_ids: ids } = form.body;
  const change = useAction({
    run: (body: BodyOf<'updateTenant'>) => slipway.tenants.update(tenant.id, body),
    renews: [['tenants']],
    done: `Organizations of ${tenant.name} changed`,
    onDone: onClose,
  });
  const lost = tenant.external_organization_ids.filter((id) => !ids.includes(id));
  return (
    <SchemaDialog
      form={form}
      run={change}
      title={`Organizations of ${tenant.name}`}
      verb="Change"
      isDangerous={lost.length > 0}
      onClose={onClose}
      action={{
        curl: { method: 'PATCH', path: `/api/v1/tenants/${encodeURIComponent(tenant.id)}`, body: form.body },
        cli: shellLine('slipway', 'tenants', 'update', tenant.id, '--external-organization-ids', ids.join(',')),
      }}
    >
      {lost.length > 0 && (
        <p className="rounded-md bg-warn-soft p-3 text-sm text-warn">
          {lost.length === 1 ? 'One organization is' : `${lost.length} organizations are`} removed. Their users can no
          longer sign in to {tenant.name}.
        </p>
      )}
    </SchemaDialog>
  );
}
