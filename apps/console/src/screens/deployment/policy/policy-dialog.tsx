import type { BodyOf } from '@slipway/sdk';
import { useState } from 'react';
import { request } from 'request:setContinualOptimizationPolicy';
import { useAction } from '../../../api/action.js';
import { slipway } from '../../../api/client.js';
import type { Policy } from '../../../api/policy.js';
import { SchemaDialog } from '../../../forms/schema-dialog.js';
import { useSchemaForm } from '../../../forms/use-schema-form.js';
import { shellLine } from '../../../ui/text/shell-line.js';
import { SET_POLICY } from './policy-layout.js';
import { keyOf } from '../renewal.js';

type NewPolicy = BodyOf<'setContinualOptimizationPolicy'>;

interface PolicyDialogProps {
  name: string;
  /** The policy in force, if there is one. */
  policy: Policy | null;
  onClose: () => void;
}

/** A policy replaces only the version that it was based on. */
export function PolicyDialog({ name, policy, onClose }: PolicyDialogProps) {
  const [before] = useState(policy);
  const form = useSchemaForm<NewPolicy>(request, SET_POLICY, { value: before });
  const set = useAction({
    run: (body: NewPolicy) => slipway.deployments.policy.set(name, body, { ifMatch: before?.etag ?? undefined }),
    renews: [keyOf('policy', name), keyOf('diagnosis', name)],
    done: ({ version }) => `Policy version ${version} is active`,
    onDone: onClose,
  });
  const { body } = form;
  return (
    <SchemaDialog
      form={form}
      run={set}
      title={`Policy of ${name}`}
      description="It replaces the whole policy. Empty fields get their defaults."
      verb="Set"
      onClose={onClose}
      action={{
        curl: {
          method: 'PUT',
          path: `/api/v1/deployments/${name}/continual-optimization/policy`,
          headers: before?.etag ? { 'if-match': before.etag } : {},
          body,
        },
        cli: `${shellLine('slipway', 'policies', 'set', name, '--file', '-', '--yes')} <<< ${shellLine(JSON.stringify(body))}`,
      }}
    />
  );
}
