import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { request } from 'request:createTargetBinding';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import type { Product } from '../../api/items.js';
import { SchemaDialog } from '../../forms/schema-dialog.js';
import type { Path } from '../../forms/schema.js';
import { useSchemaForm, type SchemaFormState } from '../../forms/use-schema-form.js';
import { ErrorNote } from '../../ui/error-note.js';
import { SelectField } from '../../ui/field.js';
import { BIND_REVISION, BIND_SUPPLIER, type BoundKind } from './layouts.js';
import { bindingAction, type NewBinding } from './requests.js';

interface CreateBindingProps {
  product: Product;
  onClose: () => void;
  onCreated: (id: string) => void;
}

export function CreateBinding({ product, onClose, onCreated }: CreateBindingProps) {
  const [kind, setKind] = useState<BoundKind>('revision');
  const fixed = { product_id: product.id };
  const form = useSchemaForm<NewBinding>(request, kind === 'revision' ? BIND_REVISION : BIND_SUPPLIER, { fixed });
  const create = useAction({
    run: (body: NewBinding) => slipway.admin.modelApi.targetBindings.create(body),
    renews: [['model-api-bindings']],
    done: 'Bound: qualify it next',
    onDone: ({ id }) => {
      onCreated(id);
      onClose();
    },
  });
  const { deployment, revision, supplier, base_url, model } = form.body.target ?? {};
  return (
    <SchemaDialog
      form={form}
      run={create}
      title={`Bind ${product.slug}`}
      description="A binding never changes. It serves once it is qualified and a publication names it."
      verb="Bind"
      onClose={onClose}
      isComplete={kind === 'revision' ? Boolean(deployment && revision) : Boolean(supplier && base_url && model)}
      action={bindingAction(form.body)}
      before={
        <SelectField
          label="What answers"
          value={kind}
          onChange={(event) => {
            form.change(['target'], {});
            setKind(event.target.value as BoundKind);
          }}
        >
          <option value="revision">a revision of a deployment here</option>
          <option value="supplier">a server elsewhere</option>
        </SelectField>
      }
      widgets={kind === 'revision' ? { target: (path) => <RevisionFields form={form} path={path} /> } : undefined}
    />
  );
}

/** What there is to choose from is known here, and not by the schema. */
function RevisionFields({ form, path }: { form: SchemaFormState<NewBinding>; path: Path }) {
  const { deployment = '', revision = '' } = (form.at(path) ?? {}) as { deployment?: string; revision?: string };
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
          onChange={(event) => form.change(path, { deployment: event.target.value })}
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
          onChange={(event) => form.change([...path, 'revision'], event.target.value)}
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
