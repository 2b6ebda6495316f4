import type { BodyOf } from '@slipway/sdk';
import { useState } from 'react';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { SelectField, TextField } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { referenceAction } from './reference-action.js';

type NewReference = BodyOf<'createSandboxReference'>;

const PROVIDERS = ['e2b', 'daytona', 'custom'] as const;

export function CreateReference({ onClose }: { onClose: () => void }) {
  const [fields, setFields] = useState<Required<Pick<NewReference, 'base_url' | 'external_id' | 'credential'>>>({
    base_url: '',
    external_id: '',
    credential: '',
  });
  const [provider, setProvider] = useState<NewReference['provider']>('custom');
  const create = useAction({
    run: (body: NewReference) => slipway.sandboxes.references.create(body),
    renews: [['sandbox-references'], ['sandboxes']],
    done: ({ external_id }) => `${external_id} is registered`,
    onDone: onClose,
  });
  const body: NewReference = {
    provider,
    base_url: fields.base_url.trim(),
    external_id: fields.external_id.trim(),
    ...(fields.credential !== '' && { credential: fields.credential }),
  };
  const field = (name: keyof typeof fields) => ({
    value: fields[name],
    onChange: (event: { target: { value: string } }) => setFields({ ...fields, [name]: event.target.value }),
  });
  return (
    <FormDialog
      title="Register an external sandbox"
      description="Makes the sandbox whose files are passed on to it. Nothing is sent now: the external sandbox is not changed."
      verb="Register"
      onClose={onClose}
      isComplete={body.base_url !== '' && body.external_id !== ''}
      isBusy={create.isPending}
      error={create.error}
      action={referenceAction(body)}
      onSubmit={() => create.mutate(body)}
    >
      <SelectField
        label="Provider"
        value={provider}
        onChange={(event) => setProvider(event.target.value as NewReference['provider'])}
      >
        {PROVIDERS.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </SelectField>
      <TextField
        label="Base URL"
        hint="Files go out only to what the operator's file allows."
        inputMode="url"
        placeholder="https://49983-sandbox.e2b.app"
        maxLength={2048}
        autoComplete="off"
        {...field('base_url')}
      />
      <TextField
        label="External id"
        hint="What the provider calls the sandbox."
        maxLength={255}
        autoComplete="off"
        {...field('external_id')}
      />
      <TextField
        label="Credential"
        type="password"
        hint="Sent to the provider with each file; stored encrypted, shown never."
        maxLength={4096}
        autoComplete="new-password"
        {...field('credential')}
      />
    </FormDialog>
  );
}
