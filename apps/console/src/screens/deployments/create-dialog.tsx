import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { TextField } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { createLine, NAME, type NewDeployment } from './create-command.js';
import { labelsOf } from './filter.js';

const EMPTY = { name: '', display_name: '', description: '', environment: '', labels: '' };

export function CreateDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [form, setForm] = useState(EMPTY);
  const { labels, fault } = labelsOf(form.labels);
  const body = bodyOf(form, labels);
  const create = useAction({
    run: () => slipway.deployments.create(body),
    renews: [['deployments']],
    done: ({ name }) => `${name} is there. It serves once something is rolled out.`,
    onDone: ({ name }) => void navigate({ to: '/deployments/$name', params: { name } }),
  });
  const isNamed = NAME.test(form.name);
  const field = (name: keyof typeof EMPTY) => ({
    value: form[name],
    onChange: (event: { target: { value: string } }) => setForm({ ...form, [name]: event.target.value }),
  });
  return (
    <FormDialog
      onClose={onClose}
      title="Create a deployment"
      description="What serves a model under one name. What it runs comes with its first rollout."
      verb="Create"
      isComplete={isNamed && fault === undefined}
      isBusy={create.isPending}
      error={create.error}
      action={{ curl: { method: 'POST', path: '/api/v1/deployments', body }, cli: createLine(body) }}
      onSubmit={() => create.mutate(undefined)}
    >
      <TextField
        label="Name"
        required
        maxLength={63}
        autoComplete="off"
        spellCheck={false}
        placeholder="chat"
        hint="What clients send as model: small letters, digits and hyphens. It stays."
        fault={form.name !== '' && !isNamed ? 'Small letters, digits and hyphens between them, at most 63' : undefined}
        {...field('name')}
      />
      <TextField label="Name for people" maxLength={255} {...field('display_name')} />
      <TextField label="Description" maxLength={2_000} {...field('description')} />
      <TextField
        label="Environment"
        maxLength={63}
        placeholder="staging"
        hint="Changes of what is in production ask for its name first."
        {...field('environment')}
      />
      <TextField label="Labels" placeholder="team=search, tier=1" fault={fault} {...field('labels')} />
    </FormDialog>
  );
}

function bodyOf(form: typeof EMPTY, labels: Record<string, string>): NewDeployment {
  const given = Object.entries({ ...form, labels: '' }).filter(([, text]) => text.trim() !== '');
  const texts = Object.fromEntries(given.map(([name, text]) => [name, text.trim()])) as unknown as NewDeployment;
  return Object.keys(labels).length > 0 ? { ...texts, labels } : texts;
}
