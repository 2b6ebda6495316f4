import type { BodyOf } from '@slipway/sdk';
import { useState } from 'react';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { useOpener } from '../../ui/dialog.js';
import { SelectField, TextField } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { OwnerFields, ScopesField, type Owner, type Scope } from '../../ui/identity-fields.js';
import { SecretDialog } from '../../ui/secret-dialog.js';
import { shellLine } from '../../ui/shell-line.js';
import { inDays } from './token-text.js';

const LIVES = [1, 7, 30, 90, 180, 364];

export function CreateToken({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [scope, setScope] = useState<Scope>('viewer');
  const [owner, setOwner] = useState<Owner>({ type: 'person', id: '' });
  const [days, setDays] = useState(90);
  const opener = useOpener();
  const create = useAction({ run: (body: BodyOf<'createToken'>) => slipway.tokens.create(body), renews: [['tokens']] });
  if (create.data)
    return (
      <SecretDialog
        title={`The token ${create.data.name}`}
        name="token"
        secret={create.data.token}
        onClose={onClose}
        returnTo={opener}
      >
        <p className="text-sm">Slipway keeps only its hash. Put it where its user reads it, such as a secret store.</p>
      </SecretDialog>
    );

  const body = (): BodyOf<'createToken'> => ({
    name: name.trim(),
    scopes: [scope],
    expires_at: inDays(days, Date.now()),
    ...(owner.id.trim() && { owner: { ...owner, id: owner.id.trim() } }),
  });
  return (
    <FormDialog
      title="Create a token"
      description="It grants no more than you have."
      verb="Create"
      onClose={onClose}
      isComplete={name.trim() !== ''}
      isBusy={create.isPending}
      error={create.error}
      action={actionOf(body())}
      onSubmit={() => create.mutate(body())}
    >
      <TextField
        label="Name"
        autoFocus
        required
        maxLength={255}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <ScopesField value={scope} onChange={setScope} />
      <OwnerFields value={owner} onChange={setOwner} whenEmpty="You where it is left empty." />
      <SelectField label="Expires" value={days} onChange={(event) => setDays(Number(event.target.value))}>
        {LIVES.map((life) => (
          <option key={life} value={life}>
            in {life === 1 ? 'a day' : `${life} days`}
          </option>
        ))}
      </SelectField>
    </FormDialog>
  );
}

function actionOf(body: BodyOf<'createToken'>) {
  const { name, scopes, expires_at, owner } = body;
  const words = ['slipway', 'tokens', 'create', name, '--scopes', scopes.join(','), '--expires-at', expires_at ?? ''];
  if (owner) words.push('--owner', JSON.stringify(owner));
  return { curl: { method: 'POST', path: '/api/v1/tokens', body }, cli: shellLine(...words) };
}
