import type { BodyOf } from '@slipway/sdk';
import { useState } from 'react';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { Button } from '../../ui/button.js';
import { TextArea, TextField } from '../../ui/field.js';
import { shellLine } from '../../ui/shell-line.js';
import { useRevisions, useTargets, type Deployment } from './deployment-data.js';
import { useFreshKey } from './fresh-key.js';
import { RehearsedDialog } from './rehearsed-dialog.js';
import { keyOf } from './renewal.js';
import { bodyOf, formOf, type Active, type ArgType, type RolloutForm } from './rollout-form.js';
import { SpecFields } from './spec-fields.js';
import { StrategyFields } from './strategy-fields.js';

type RolloutBody = BodyOf<'createRollout'>;

/** Most that is taken from the field of raw JSON: the api would refuse more. */
const MOST_JSON = 200_000;

interface RolloutDialogProps {
  deployment: Deployment;
  /** The request to begin with, as a plan has it ready; the active revision unless given. */
  ready?: object;
  onClose: () => void;
}

export function RolloutDialog({ deployment, ready, onClose }: RolloutDialogProps) {
  const { name } = deployment;
  const { data: revisions } = useRevisions(name);
  const { data: targets } = useTargets(true);
  // What the form began with stays its base: a promotion meanwhile is refused by the api, not silently built upon.
  const [active] = useState<Active | undefined>(() =>
    revisions?.pages.flatMap(({ data }) => data).find((one) => one.name === deployment.active_revision),
  );
  const [form, setForm] = useState(() =>
    formOf(active?.spec, deployment.default_strategy ?? null, deployment.default_analysis ?? null),
  );
  const [raw, setRaw] = useState(ready && JSON.stringify(ready, null, 2));

  const declared = targets
    ?.find((target) => target.name === form.target)
    ?.engines.find((engine) => engine.name === form.engine)?.declared;
  const { body, fault } = requestOf(raw, form, declared ?? [], active);
  const idempotencyKey = useFreshKey(JSON.stringify(body ?? null));
  const run = useAction({
    run: (given: object) => slipway.deployments.rollouts.create(name, given as RolloutBody, { idempotencyKey }),
    renews: ['deployment', 'operations', 'revisions'].map((what) => keyOf(what, name)),
    done: 'The rollout has begun',
    onDone: onClose,
  });
  return (
    <RehearsedDialog
      title={`Roll out to ${name}`}
      verb="Roll out"
      nameToType={deployment.environment === 'production' ? name : undefined}
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
      {deployment.protection.rollouts === 'approved_plan' && (
        <p className="rounded-md bg-warn-soft p-2 text-sm text-warn">
          This deployment takes only rollouts of an approved plan: name it as <code>plan_id</code> in the JSON.
        </p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <p className="grow text-sm text-soft">
          {active
            ? `What differs from ${active.name} is sent as a patch.`
            : 'The first revision: the whole spec is sent.'}
        </p>
        <Button
          isSmall
          aria-pressed={raw !== undefined}
          onClick={() => setRaw(raw === undefined ? JSON.stringify(body ?? {}, null, 2) : undefined)}
        >
          {raw === undefined ? 'Edit as JSON' : 'Back to the form'}
        </Button>
      </div>
      {raw === undefined ? (
        <>
          <SpecFields form={form} targets={targets ?? []} onChange={(changed) => setForm({ ...form, ...changed })} />
          <StrategyFields form={form} onChange={(changed) => setForm({ ...form, ...changed })} />
          <TextField
            label="Reason"
            maxLength={2000}
            hint="Stands in the operation and the audit log."
            value={form.reason}
            onChange={(event) => setForm({ ...form, reason: event.target.value })}
          />
        </>
      ) : (
        <TextArea
          label="The request as JSON"
          rows={16}
          maxLength={MOST_JSON}
          spellCheck={false}
          className="font-mono text-xs"
          value={raw}
          onChange={(event) => setRaw(event.target.value)}
          hint="spec or spec_patch, strategy, analysis, and what else the api takes. Back to the form forgets it."
        />
      )}
    </RehearsedDialog>
  );
}

function requestOf(
  raw: string | undefined,
  form: RolloutForm,
  declared: readonly ArgType[],
  active: Active | undefined,
): { body?: object; fault?: string } {
  try {
    if (raw === undefined) return { body: bodyOf(form, declared, active) };
    const body: unknown = JSON.parse(raw);
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      return { fault: 'The request is a JSON object.' };
    return { body };
  } catch (error) {
    return { fault: raw === undefined ? (error as Error).message : `This is not JSON: ${(error as Error).message}` };
  }
}
