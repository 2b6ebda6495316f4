import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { ErrorNote } from '../../ui/error-note.js';
import { SelectField, TextField } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import type { Product } from './flow.js';
import { bindingAction, bindingBody, type BindingFields, type NewBinding } from './requests.js';

const EMPTY: BindingFields = {
  kind: 'revision',
  deployment: '',
  revision: '',
  supplier: '',
  base_url: '',
  model: '',
  credential: '',
  max_rps: '',
  max_concurrency: '',
};

interface CreateBindingProps {
  product: Product;
  onClose: () => void;
  onCreated: (id: string) => void;
}

export function CreateBinding({ product, onClose, onCreated }: CreateBindingProps) {
  const [fields, setFields] = useState(EMPTY);
  const change = (changed: Partial<BindingFields>) => setFields({ ...fields, ...changed });
  const create = useAction({
    run: (body: NewBinding) => slipway.admin.modelApi.targetBindings.create(body),
    renews: [['model-api-bindings']],
    done: 'Bound: qualify it next',
    onDone: ({ id }) => {
      onCreated(id);
      onClose();
    },
  });
  const body = bindingBody(product.id, fields);
  const { kind, deployment, revision, supplier, base_url, model } = fields;
  return (
    <FormDialog
      title={`Bind ${product.slug}`}
      description="A binding never changes. It serves once it is qualified and a publication names it."
      verb="Bind"
      onClose={onClose}
      isComplete={kind === 'revision' ? Boolean(deployment && revision) : Boolean(supplier && base_url && model)}
      isBusy={create.isPending}
      error={create.error}
      action={bindingAction(body)}
      onSubmit={() => create.mutate(body)}
    >
      <SelectField
        label="What answers"
        value={kind}
        onChange={(event) => change({ kind: event.target.value as BindingFields['kind'] })}
      >
        <option value="revision">a revision of a deployment here</option>
        <option value="supplier">a server elsewhere</option>
      </SelectField>
      {kind === 'revision' ? (
        <RevisionFields fields={fields} onChange={change} />
      ) : (
        <SupplierFields fields={fields} onChange={change} />
      )}
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          label="Requests a second"
          hint="For each gateway; empty: no limit."
          inputMode="decimal"
          maxLength={12}
          value={fields.max_rps}
          onChange={(event) => change({ max_rps: event.target.value })}
        />
        <TextField
          label="Requests at once"
          hint="For each gateway; empty: no limit."
          inputMode="numeric"
          maxLength={12}
          value={fields.max_concurrency}
          onChange={(event) => change({ max_concurrency: event.target.value })}
        />
      </div>
    </FormDialog>
  );
}

interface FieldsProps {
  fields: BindingFields;
  onChange: (changed: Partial<BindingFields>) => void;
}

function RevisionFields({ fields: { deployment, revision }, onChange }: FieldsProps) {
  const deployments = useQuery({
    queryKey: ['deployments', 'to-bind'],
    queryFn: async ({ signal }) => await slipway.deployments.list({ limit: 200, signal }),
  });
  const revisions = useQuery({
    queryKey: ['revisions', deployment, 'to-bind'],
    queryFn: async ({ signal }) => await slipway.deployments.revisions.list(deployment, { limit: 200, signal }),
    enabled: deployment !== '',
  });
  const failure = deployments.error ?? revisions.error;
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <SelectField
          label="Deployment"
          value={deployment}
          hint={deployments.data?.next_cursor ? 'The first 200: the command line takes any.' : undefined}
          onChange={(event) => onChange({ deployment: event.target.value, revision: '' })}
        >
          <option value="">{deployments.isPending ? 'Reading…' : 'Choose one'}</option>
          {deployments.data?.data.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
        <SelectField
          label="Revision"
          value={revision}
          disabled={deployment === ''}
          onChange={(event) => onChange({ revision: event.target.value })}
        >
          <option value="">{revisions.isFetching && !revisions.data ? 'Reading…' : 'Choose one'}</option>
          {revisions.data?.data.map(({ name, state }) => (
            <option key={name} value={name}>
              {name} ({state})
            </option>
          ))}
        </SelectField>
      </div>
      {failure && <ErrorNote error={failure} />}
    </>
  );
}

function SupplierFields({ fields, onChange }: FieldsProps) {
  return (
    <>
      <TextField
        label="Supplier"
        hint="Who runs the server. Only admins see it."
        maxLength={255}
        autoComplete="off"
        value={fields.supplier}
        onChange={(event) => onChange({ supplier: event.target.value })}
      />
      <TextField
        label="Base URL"
        hint="OpenAI-compatible, and allowed in the operator's file."
        inputMode="url"
        placeholder="https://models.inference.example.com/v1"
        maxLength={2048}
        autoComplete="off"
        value={fields.base_url}
        onChange={(event) => onChange({ base_url: event.target.value })}
      />
      <TextField
        label="Model"
        hint="What the supplier calls it."
        maxLength={255}
        autoComplete="off"
        value={fields.model}
        onChange={(event) => onChange({ model: event.target.value })}
      />
      <TextField
        label="Credential"
        hint="Stored encrypted, shown never."
        type="password"
        maxLength={4096}
        autoComplete="new-password"
        value={fields.credential}
        onChange={(event) => onChange({ credential: event.target.value })}
      />
    </>
  );
}
