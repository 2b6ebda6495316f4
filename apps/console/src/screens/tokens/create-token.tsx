import type { BodyOf } from '@slipway/sdk';
import { useState } from 'react';
import { request } from 'request:createToken';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { SchemaDialog } from '../../forms/schema-dialog.js';
import { useSchemaForm } from '../../forms/use-schema-form.js';
import { useOpener } from '../../ui/dialogs/dialog.js';
import { SelectField } from '../../ui/field.js';
import { SecretDialog } from '../../ui/dialogs/secret-dialog.js';
import { shellLine } from '../../ui/text/shell-line.js';
import { CREATE_TOKEN } from './create-layout.js';
import { inDays } from './token-text.js';

/** The lifetime of a token by default. */
const DAYS = 90;
const LIVES = [1, 7, 30, 90, 180, 364];

export function CreateToken({ onClose }: { onClose: () => void }) {
  const [beginning] = useState(() => ({ scopes: ['viewer'], expires_at: inDays(DAYS, Date.now()) }));
  const form = useSchemaForm<BodyOf<'createToken'>>(request, CREATE_TOKEN, { value: beginning });
  const opener = useOpener();
  const create = useAction({ run: (body: BodyOf<'createToken'>) => slipway.tokens.create(body), renews: [['tokens']] });
  if (create.data)
    return (
      <SecretDialog
        title={`Token ${create.data.name}`}
        name="token"
        secret={create.data.token}
        onClose={onClose}
        returnTo={opener}
      >
        <p className="text-sm">Slipway stores only its hash. Keep the token in a safe place, such as a secret store.</p>
      </SecretDialog>
    );

  return (
    <SchemaDialog
      form={form}
      run={create}
      title="New token"
      description="A token cannot have more scopes than you have."
      verb="Create"
      onClose={onClose}
      action={actionOf(form.body)}
      widgets={{ expires_at: (path) => <ExpiryField onChange={(at) => form.change(path, at)} /> }}
    />
  );
}

/** Counted in days, as people do. */
function ExpiryField({ onChange }: { onChange: (at: string) => void }) {
  const [days, setDays] = useState(DAYS);
  const choose = (chosen: number) => {
    setDays(chosen);
    onChange(inDays(chosen, Date.now()));
  };
  return (
    <SelectField label="Expires" value={days} onChange={(event) => choose(Number(event.target.value))}>
      {LIVES.map((life) => (
        <option key={life} value={life}>
          in {life === 1 ? 'a day' : `${life} days`}
        </option>
      ))}
    </SelectField>
  );
}

function actionOf(body: BodyOf<'createToken'>) {
  const { name = '', scopes = [], expires_at, owner } = body;
  const words = ['slipway', 'tokens', 'create', name, '--scopes', scopes.join(','), '--expires-at', expires_at ?? ''];
  if (owner) words.push('--owner', JSON.stringify(owner));
  return { curl: { method: 'POST', path: '/api/v1/tokens', body }, cli: shellLine(...words) };
}
