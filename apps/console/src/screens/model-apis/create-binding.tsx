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
    done: 'Binding created. Qualify it next.',
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
      title={`New binding of ${product.slug}`}
      description="A binding is immutable. It serves requests once it is qualified and part of a publication."
      verb="Create"
      onClose={onClose}
      isComplete={kind === 'revision' ? Boolean(deployment && revision) : Boolean(supplier && base_url && model)}
      action={bindingAction(form.body)}
      before={
        <SelectField
          label="Destination type"
          value={kind}
          onChange={(event) => {
            form.change(['target'], {});
            setKind(event.target.value as BoundKind);
          }}
        >
          <option value="revision">revision of a deployment</option>
          <option value="supplier">model of a supplier</option>
        </SelectField>
      }
      widgets={kind === 'revision' ? { target: (path) => <RevisionFields form={form} path={path} /> } : undefined}
    />
  );
}

/** This component knows the choices; the schema does not. */
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
          hint={
            deployments.data?.next_cursor ? 'Only the first 200 are listed. The command line accepts any.' : undefined
          }
          onChange={(event) => form.change(path, { deployment: event.target.value })}
        >
          <option value="">{deployments.isPending ? 'Loading…' : 'Choose one'}</option>
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
          <option value="">{revisions.isFetching && !revisions.data ? 'Loading…' : 'Choose one'}</option>
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
