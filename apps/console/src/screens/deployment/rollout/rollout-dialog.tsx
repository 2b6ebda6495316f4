import { useState } from 'react';
import { request } from 'request:createRollout';
import { isProduction } from '@slipway/sdk';
import type { Deployment } from '../../../api/items.js';
import { useAction } from '../../../api/action.js';
import { slipway } from '../../../api/client.js';
import { draftOf } from '../../../forms/draft.js';
import { SchemaField } from '../../../forms/schema-field.js';
import { SchemaForm } from '../../../forms/schema-form.js';
import { schemaAt, type Path } from '../../../forms/schema.js';
import { useSchemaForm, type SchemaFormState as SchemaFormState } from '../../../forms/use-schema-form.js';
import { Button } from '../../../ui/button.js';
import { TextArea } from '../../../ui/field.js';
import { isObject } from '../../../ui/text/json-shape.js';
import { shellLine } from '../../../ui/text/shell-line.js';
import { useRevisions, useTargets } from '../deployment-data.js';
import { useFreshKey } from '../fresh-key.js';
import { RehearsedDialog } from './rehearsed-dialog.js';
import { keyOf } from '../renewal.js';
import {
  argTextsOf,
  beginningOf,
  bodyOf,
  canBake,
  hasSteps,
  stepsOf,
  withoutStrategy,
  type ActiveRevision,
  type RolloutBody,
} from './rollout-form.js';
import { rolloutLayoutOf } from './rollout-layout.js';
import { RuntimeFields } from './runtime-fields.js';

/** The maximum size of the raw JSON field: the api would refuse more. */
const MOST_JSON = 200_000;

interface RolloutDialogProps {
  deployment: Deployment;
  /** The initial request, as a plan has it ready; the active revision by default. */
  ready?: object;
  onClose: () => void;
}

export function RolloutDialog({ deployment, ready, onClose }: RolloutDialogProps) {
  const { name } = deployment;
  const { data: revisions } = useRevisions(name);
  const { data: targets } = useTargets(true);
  // The form's original base stays: the api refuses a promotion in between, instead of silently building on it.
  const [active] = useState<ActiveRevision | undefined>(() =>
    revisions?.pages.flatMap(({ data }) => data).find((one) => one.name === deployment.active_revision),
  );
  const { default_strategy = null, default_analysis = null } = deployment;
  const [beginning] = useState(() => beginningOf(active, default_strategy, default_analysis));
  const [strategy, setStrategy] = useState<string>(beginning.strategy?.type ?? '');
  const form = useSchemaForm<RolloutBody>(request, rolloutLayoutOf(strategy), { value: beginning });
  const [began] = useState(form.body);
  const [args, setArgs] = useState(() => argTextsOf(active?.spec));
  const [raw, setRaw] = useState(ready && JSON.stringify(ready, null, 2));

  const chooseStrategy = (type: string) => {
    const put = (name: 'strategy' | 'analysis', path: Path, value: unknown) =>
      form.change([name, ...path], draftOf(schemaAt(request.schema, [name, ...path])!, value));
    form.change(['strategy', 'type'], type);
    put('strategy', ['steps'], stepsOf(type));
    if (!canBake(type)) put('strategy', ['bake'], undefined);
    if (hasSteps(type) !== hasSteps(strategy)) put('analysis', [], hasSteps(type) ? default_analysis : null);
    setStrategy(type);
  };
  const { target, engine } = form.body.spec?.runtime ?? {};
  const declared = targets
    ?.find(({ name: one }) => one === target)
    ?.engines.find(({ name: one }) => one === engine)?.declared;
  const { body, fault } = requestOf(raw, form, () => bodyOf(form.body, began, args, declared ?? [], active));
  const idempotencyKey = useFreshKey(JSON.stringify(body ?? null));
  const run = useAction({
    run: (given: object) => slipway.deployments.rollouts.create(name, given as RolloutBody, { idempotencyKey }),
    renews: ['deployment', 'operations', 'revisions'].map((what) => keyOf(what, name)),
    done: 'Rollout started',
    onDone: onClose,
  });
  // A refusal is of the current request, so its fields are those of the current form.
  const attemptOf = (refusal: Error | null) => ({ error: refusal, variables: form.body });
  const consequence = body && withoutStrategy(body, default_strategy?.type);
  return (
    <RehearsedDialog
      title={`Rollout of ${name}`}
      verb="Roll out"
      nameToType={isProduction(deployment.environment) ? name : undefined}
      body={body}
      fault={fault}
      rehearse={(given) => slipway.deployments.rollouts.rehearse(name, given as RolloutBody)}
      run={run}
      actionOf={(given) => ({
        curl: {
          method: 'POST',
          path: `/api/v1/deployments/${name}/rollouts`,
          headers: { 'idempotency-key': idempotencyKey },
          body: given,
        },
        cli: `${shellLine('slipway', 'rollouts', 'create', name, '-f', '-', '--idempotency-key', idempotencyKey)} <<< ${shellLine(JSON.stringify(given))}`,
      })}
      onClose={onClose}
    >
      {(refusal) => (
        <>
          {deployment.protection.rollouts === 'approved_plan' && (
            <p className="rounded-md bg-warn-soft p-2 text-sm text-warn">
              Rollouts of this deployment require an approved plan. Set its ID as <code>plan_id</code> in the JSON.
            </p>
          )}
          <div className="flex flex-wrap items-center gap-2">
            <p className="grow text-sm text-soft">
              {active
                ? `The differences from ${active.name} are sent as a patch.`
                : 'This is the first revision. The full spec is sent.'}
            </p>
            <Button
              isSmall
              aria-pressed={raw !== undefined}
              onClick={() => setRaw(raw === undefined ? JSON.stringify(body ?? {}, null, 2) : undefined)}
            >
              {raw === undefined ? 'Edit as JSON' : 'Back to form'}
            </Button>
          </div>
          {raw === undefined ? (
            <SchemaForm
              form={form}
              attempt={attemptOf(refusal)}
              widgets={{
                'spec.runtime': (path) => (
                  <RuntimeFields
                    form={form}
                    attempt={attemptOf(refusal)}
                    path={path}
                    targets={targets ?? []}
                    args={args}
                    onArgs={setArgs}
                  />
                ),
                'strategy.type': (path) => (
                  <SchemaField
                    form={{ ...form, change: (_, type) => chooseStrategy(type as string) }}
                    attempt={attemptOf(refusal)}
                    path={path}
                    label="Strategy"
                  />
                ),
              }}
            />
          ) : (
            <TextArea
              label="Request as JSON"
              rows={16}
              maxLength={MOST_JSON}
              spellCheck={false}
              className="font-mono text-xs"
              value={raw}
              onChange={(event) => setRaw(event.target.value)}
              hint="spec or spec_patch, strategy, analysis, and any other field of the API. Back to form discards this text."
            />
          )}
          {consequence && (
            <p role="status" className="rounded-md bg-warn-soft p-2 text-sm text-warn">
              Without a strategy: {consequence}
            </p>
          )}
        </>
      )}
    </RehearsedDialog>
  );
}

function requestOf(
  raw: string | undefined,
  form: SchemaFormState<RolloutBody>,
  made: () => RolloutBody,
): { body?: object; fault?: string } {
  if (raw === undefined && !form.isComplete) return { fault: `Missing or invalid: ${form.faulty.join(', ')}` };
  try {
    if (raw === undefined) return { body: made() };
    const body: unknown = JSON.parse(raw);
    return isObject(body) ? { body } : { fault: 'The request must be a JSON object.' };
  } catch (error) {
    return { fault: raw === undefined ? (error as Error).message : `Invalid JSON: ${(error as Error).message}` };
  }
}
