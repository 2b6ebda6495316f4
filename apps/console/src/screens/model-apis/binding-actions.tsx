import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { request as creation } from 'request:createTargetBinding';
import { request as deletion } from 'request:deleteTargetBinding';
import { defineAction, type Action } from '../../actions/action.js';
import { slipway } from '../../api/client.js';
import type { Binding, Product } from '../../api/items.js';
import type { Path } from '../../forms/schema.js';
import type { SchemaFormState } from '../../forms/use-schema-form.js';
import { ErrorNote } from '../../ui/error-note.js';
import { SelectField } from '../../ui/field.js';
import { targetText } from './flow.js';
import { BIND_REVISION, BIND_SUPPLIER, CREATE_BINDING_CLI } from './layouts.js';

const { targetBindings } = slipway.admin.modelApi;

/** Its actions make a binding to a revision, or to a model of a supplier. */
export const bindingsOf = (product: Product, onCreated: (id: string) => void): Action[] =>
  (['revision', 'supplier'] as const).map((kind) =>
    defineAction<'createTargetBinding'>()({
      request: creation,
      verb: 'Create',
      button: kind === 'revision' ? 'Bind revision' : 'Bind supplier',
      title: () => `New binding of ${product.slug}`,
      description: 'A binding is immutable. It serves requests once it is qualified and part of a publication.',
      layout: () => (kind === 'revision' ? BIND_REVISION : BIND_SUPPLIER),
      fixed: () => ({ product_id: product.id }),
      widgets: (form): Record<string, (path: Path) => ReactNode> =>
        kind === 'revision' ? { target: (path) => <RevisionFields form={form} path={path} /> } : {},
      cli: CREATE_BINDING_CLI,
      run: (_, body) => targetBindings.create(body),
      done: () => 'Binding created. Qualify it next.',
      onDone: ({ id }) => onCreated(id),
    }),
  );

export const BINDING_ACTIONS = [
  defineAction<'deleteTargetBinding'>()<Binding>({
    request: deletion,
    verb: 'Delete',
    isDangerous: true,
    title: (binding) => `Delete the binding to ${targetText(binding)}?`,
    effect: () => (
      <p>
        Slipway also deletes its credential and no longer keeps its revision. A binding of the current publication is
        refused.
      </p>
    ),
    cli: { words: 'bindings delete', end: '--yes' },
    run: ({ id }) => targetBindings.delete(id),
    done: () => 'Binding deleted',
  }),
];

/** This component knows the choices; the schema does not. */
function RevisionFields({ form, path }: { form: SchemaFormState<unknown>; path: Path }) {
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
