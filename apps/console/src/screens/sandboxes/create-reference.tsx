import type { BodyOf } from '@slipway/sdk';
import { request } from 'request:createSandboxReference';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { SchemaDialog } from '../../forms/schema-dialog.js';
import { useSchemaForm } from '../../forms/use-schema-form.js';
import { CREATE_REFERENCE } from './layouts.js';
import { referenceAction } from './reference-action.js';

type NewReference = BodyOf<'createSandboxReference'>;

export function CreateReference({ onClose }: { onClose: () => void }) {
  const form = useSchemaForm<NewReference>(request, CREATE_REFERENCE, { value: { provider: 'custom' } });
  const create = useAction({
    run: (body: NewReference) => slipway.sandboxes.references.create(body),
    renews: [['sandbox-references'], ['sandboxes']],
    done: ({ external_id }) => `${external_id} is registered`,
    onDone: onClose,
  });
  return (
    <SchemaDialog
      form={form}
      run={create}
      title="Register an external sandbox"
      description="Makes the sandbox whose files are passed on to it. Nothing is sent now: the external sandbox is not changed."
      verb="Register"
      onClose={onClose}
      action={referenceAction(form.body)}
    />
  );
}
