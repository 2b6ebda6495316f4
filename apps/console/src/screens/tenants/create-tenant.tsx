import type { BodyOf } from '@slipway/sdk';
import { request } from 'request:createTenant';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { SchemaDialog } from '../../forms/schema-dialog.js';
import { useSchemaForm } from '../../forms/use-schema-form.js';
import { useOpener } from '../../ui/dialogs/dialog.js';
import { SecretDialog } from '../../ui/dialogs/secret-dialog.js';
import { shellLine } from '../../ui/text/shell-line.js';
import { CREATE_TENANT } from './layouts.js';

export function CreateTenant({ onClose }: { onClose: () => void }) {
  const form = useSchemaForm<BodyOf<'createTenant'>>(request, CREATE_TENANT);
  const opener = useOpener();
  const create = useAction({
    run: (body: BodyOf<'createTenant'>) => slipway.tenants.create(body),
    renews: [['tenants']],
  });
  if (create.data)
    return (
      <SecretDialog
        title={`Tenant ${create.data.name}`}
        name="token"
        secret={create.data.token}
        onClose={onClose}
        returnTo={opener}
      >
        <p className="text-sm">
          This is the first admin token of the tenant. Give it to the admin of the tenant. Slipway stores only its hash.
        </p>
      </SecretDialog>
    );

  return (
    <SchemaDialog
      form={form}
      run={create}
      title="New tenant"
      verb="Create"
      onClose={onClose}
      action={actionOf(form.body)}
    />
  );
}

function actionOf(body: BodyOf<'createTenant'>) {
  const { name = '', external_organization_ids: ids, owner } = body;
  const words = ['slipway', 'tenants', 'create', name];
  if (ids) words.push('--external-organization-ids', ids.join(','));
  if (owner) words.push('--owner', JSON.stringify(owner));
  return { curl: { method: 'POST', path: '/api/v1/tenants', body }, cli: shellLine(...words) };
}
