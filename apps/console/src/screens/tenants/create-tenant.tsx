import type { BodyOf } from '@slipway/sdk';
import { useState } from 'react';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { useOpener } from '../../ui/dialog.js';
import { TextField } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { OwnerFields, type Owner } from '../../ui/identity-fields.js';
import { linesOf } from '../../ui/listed-text.js';
import { SecretDialog } from '../../ui/secret-dialog.js';
import { shellLine } from '../../ui/shell-line.js';
import { OrganizationsField } from './organizations-field.js';

export function CreateTenant({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [organizations, setOrganizations] = useState('');
  const [owner, setOwner] = useState<Owner>({ type: 'person', id: '' });
  const opener = useOpener();
  const create = useAction({
    run: (body: BodyOf<'createTenant'>) => slipway.tenants.create(body),
    renews: [['tenants']],
  });
  if (create.data)
    return (
      <SecretDialog
        title={`The tenant ${create.data.name}`}
        name="token"
        secret={create.data.token}
        onClose={onClose}
        returnTo={opener}
      >
        <p className="text-sm">
          The tenant's first admin token: hand it to whoever is to keep the tenant. Slipway keeps only its hash.
        </p>
      </SecretDialog>
    );

  const ids = linesOf(organizations);
  const body: BodyOf<'createTenant'> = {
    name: name.trim(),
    ...(ids.length > 0 && { external_organization_ids: ids }),
    ...(owner.id.trim() && { owner: { ...owner, id: owner.id.trim() } }),
  };
  return (
    <FormDialog
      title="Create a tenant"
      verb="Create"
      onClose={onClose}
      isComplete={body.name !== ''}
      isBusy={create.isPending}
      error={create.error}
      action={actionOf(body)}
      onSubmit={() => create.mutate(body)}
    >
      <TextField
        label="Name"
        autoFocus
        hint="It cannot be changed; the slugs of the tenant begin with it."
        required
        maxLength={255}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <OrganizationsField value={organizations} onChange={setOrganizations} />
      <OwnerFields
        value={owner}
        onChange={setOwner}
        whenEmpty="Of the first token; the person admin where it is left empty."
      />
    </FormDialog>
  );
}

function actionOf(body: BodyOf<'createTenant'>) {
  const { name, external_organization_ids: ids, owner } = body;
  const words = ['slipway', 'tenants', 'create', name];
  if (ids) words.push('--external-organization-ids', ids.join(','));
  if (owner) words.push('--owner', JSON.stringify(owner));
  return { curl: { method: 'POST', path: '/api/v1/tenants', body }, cli: shellLine(...words) };
}
