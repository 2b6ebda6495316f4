import { isProduction, type BodyOf } from '@slipway/sdk';
import { useState } from 'react';
import { request } from 'request:createRollback';
import { useAction } from '../../../api/action.js';
import { slipway } from '../../../api/client.js';
import { SchemaForm } from '../../../forms/schema-form.js';
import { useSchemaForm } from '../../../forms/use-schema-form.js';
import { Facts } from '../../../ui/facts.js';
import { SelectField } from '../../../ui/field.js';
import { shellLine } from '../../../ui/text/shell-line.js';
import { useDeployment, useOperations, useRevisions, useRoute } from '../deployment-data.js';
import { useFreshKey } from '../fresh-key.js';
import { isLive } from '../../../api/operation-state.js';
import { RehearsedDialog } from './rehearsed-dialog.js';
import { rollbackEffect, type RollbackEffect } from './rollback-effect.js';
import { ROLLBACK } from './rollout-layout.js';
import { keyOf } from '../renewal.js';
import { whyNoRollback } from '../traffic.js';

interface RollbackDialogProps {
  name: string;
  /** The preselected revision; if it is empty, the api chooses the last good one. */
  to: string;
  onClose: () => void;
}

/** The kinds of operations that a rollback ends; the api refuses it during all others. */
const REPLACED = ['rollout', 'bake'];

type RollbackBody = NonNullable<BodyOf<'createRollback'>>;

function Effect({ of }: { of: RollbackEffect | undefined }) {
  if (!of) return null;
  return (
    <Facts
      of={{
        Revision: of.revision,
        Traffic: of.traffic.map((line) => (
          <span key={line} className="block">
            {line}
          </span>
        )),
        Instances: of.instances,
      }}
    />
  );
}

export function RollbackDialog({ name, to, onClose }: RollbackDialogProps) {
  const { data: deployment } = useDeployment(name);
  const { data: operations } = useOperations(name);
  const { data: revisions } = useRevisions(name);
  const { data: route } = useRoute(name);
  const [value] = useState({ to_revision: to });
  const form = useSchemaForm<RollbackBody>(request, ROLLBACK, { value });
  const live = (operations ?? []).find(isLive);
  const { body } = form;
  const idempotencyKey = useFreshKey(JSON.stringify(body));
  const run = useAction({
    run: (given: object) => slipway.deployments.rollbacks.create(name, given, { idempotencyKey }),
    renews: ['deployment', 'operations', 'route', 'revisions'].map((what) => keyOf(what, name)),
    done: 'Rollback started',
    onDone: onClose,
  });
  const active = deployment?.active_revision ?? null;
  return (
    <RehearsedDialog
      title={`Rollback of ${name}`}
      verb="Roll back"
      isDangerous
      isPreviewedAtOnce
      effect={(rehearsal) => <Effect of={rollbackEffect(rehearsal, active, route?.targets ?? [])} />}
      nameToType={isProduction(deployment?.environment) ? name : undefined}
      body={form.isComplete ? body : undefined}
      rehearse={(given) => slipway.deployments.rollbacks.rehearse(name, given)}
      run={run}
      actionOf={(given) => ({
        curl: {
          method: 'POST',
          path: `/api/v1/deployments/${name}/rollback`,
          headers: { 'idempotency-key': idempotencyKey },
          body: given,
        },
        cli: shellLine(
          ...['slipway', 'rollback', name],
          ...(body.to_revision ? ['--to-revision', body.to_revision] : []),
          ...(body.reason ? ['--reason', body.reason] : []),
          ...(body.on_active_operation ? ['--on-active-operation', body.on_active_operation] : []),
          ...['--idempotency-key', idempotencyKey],
        ),
      })}
      onClose={onClose}
    >
      {(refusal) => (
        <>
          {live && (
            <p className="rounded-md bg-warn-soft p-2 text-sm text-warn">
              A {live.kind} is in progress.{' '}
              {REPLACED.includes(live.kind)
                ? 'The rollback replaces it immediately and removes what it created.'
                : 'Wait until it has ended, or cancel it first.'}
            </p>
          )}
          <SchemaForm
            form={form}
            attempt={{ error: refusal, variables: body }}
            widgets={{
              to_revision: (path) => (
                <SelectField
                  label="To revision"
                  value={form.at(path) as string}
                  onChange={(event) => form.change(path, event.target.value)}
                >
                  <option value="">Last good revision (default)</option>
                  {revisions?.pages
                    .flatMap(({ data }) => data)
                    .map((one) => {
                      const why = whyNoRollback(one, active, live !== undefined);
                      return (
                        <option key={one.id} value={one.name} disabled={why !== null}>
                          {one.number}: {one.spec.model.id}, {one.state}
                          {why && ` (${why})`}
                        </option>
                      );
                    })}
                </SelectField>
              ),
            }}
          />
        </>
      )}
    </RehearsedDialog>
  );
}
