import type { BodyOf } from '@slipway/sdk';
import { useNavigate } from '@tanstack/react-router';
import { request } from 'request:createDeployment';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { SchemaDialog } from '../../forms/schema-dialog.js';
import { useSchemaForm } from '../../forms/use-schema-form.js';
import { createDeploymentLine } from './create-command.js';
import { CREATE_DEPLOYMENT } from './create-layout.js';

type NewDeployment = BodyOf<'createDeployment'>;

export function CreateDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const form = useSchemaForm<NewDeployment>(request, CREATE_DEPLOYMENT);
  const create = useAction({
    run: (body: NewDeployment) => slipway.deployments.create(body),
    renews: [['deployments']],
    done: ({ name }) => `${name} is there. It serves once something is rolled out.`,
    onDone: ({ name }) => void navigate({ to: '/deployments/$name', params: { name } }),
  });
  return (
    <SchemaDialog
      form={form}
      run={create}
      onClose={onClose}
      title="Create a deployment"
      description="What serves a model under one name. What it runs comes with its first rollout."
      verb="Create"
      action={{
        curl: { method: 'POST', path: '/api/v1/deployments', body: form.body },
        cli: createDeploymentLine(form.body),
      }}
    />
  );
}
