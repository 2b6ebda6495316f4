import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { useAddress } from '../../api/search.js';
import { mayWith, whoQuery } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { curlLine } from '../../ui/copy.js';
import { ErrorNote } from '../../ui/error-note.js';
import { Loaded } from '../../ui/loaded.js';
import { ScreenHead } from '../../ui/panel.js';
import { Steps } from '../../ui/steps.js';
import { createBody, createFirstLine, rolloutBody, rolloutLine } from './first-run-commands.js';
import { createFirst, useFirstRun, useSimulatorTarget, type FirstRun } from './first-run-data.js';
import { stageOf, type FirstRunStage } from './first-run-state.js';
import { SendStage } from './send-stage.js';
import { StagePanel } from './stage-panel.js';

const RENEWS = [['deployments'], ['operations']];

/** From an empty stack to a served request in three clicks, each also as lines to copy. */
export function FirstRunScreen() {
  const [{ name }] = useAddress();
  const run = useFirstRun(name);
  const who = useQuery(whoQuery);
  return (
    <>
      <ScreenHead title="First request" />
      <p className="mb-3 max-w-3xl text-sm">
        Three clicks lead to a served request. The built-in simulator needs no GPU and no model. The result is a regular
        deployment. You can leave this page and return later.
      </p>
      <Loaded query={who} what="your scopes">
        {({ scopes }) =>
          mayWith(scopes, 'operator') ? (
            <Loaded query={run} what="the existing deployments">
              {(found) => <Stages found={found} />}
            </Loaded>
          ) : (
            <p>This page requires the scope operator, which you do not have.</p>
          )
        }
      </Loaded>
    </>
  );
}

function Stages({ found }: { found: FirstRun }) {
  const stage = stageOf(found.deployment, found.operation);
  const name = found.deployment?.name ?? 'first';
  return (
    <div className="grid items-start gap-3 xl:grid-cols-3">
      <CreateStage name={name} isDone={stage !== 'create'} />
      <RollOutStage name={name} stage={stage} found={found} />
      <SendStage key={name} name={name} isReady={stage === 'send'} />
    </div>
  );
}

function CreateStage({ name, isDone }: { name: string; isDone: boolean }) {
  const [, change] = useAddress();
  const create = useAction({ run: createFirst, renews: RENEWS, onDone: (made) => change({ name: made.name }) });
  const curl = curlLine({ method: 'POST', path: '/api/v1/deployments', body: createBody(name) });
  return (
    <StagePanel
      title="1. Create a deployment"
      state={isDone ? 'done' : 'next'}
      lines={[
        { name: 'curl', text: curl },
        { name: 'CLI', text: createFirstLine(name) },
      ]}
    >
      {isDone ? (
        <p className="text-sm">
          <Link to="/deployments/$name" params={{ name }} className="underline">
            {name}
          </Link>{' '}
          exists.
        </p>
      ) : (
        <Button kind="primary" isBusy={create.isPending} onClick={() => create.mutate(undefined)}>
          Create {name}
        </Button>
      )}
      {create.error && <ErrorNote error={create.error} />}
    </StagePanel>
  );
}

const ROLL_OUT_STATES = { create: 'upcoming', roll_out: 'next', rolling_out: 'running', send: 'done' } as const;

function RollOutStage({ name, stage, found: { operation } }: { name: string; stage: FirstRunStage; found: FirstRun }) {
  const target = useSimulatorTarget();
  const where = target.data ?? 'local';
  const rollOut = useAction({
    run: () => slipway.deployments.rollouts.create(name, rolloutBody(where)),
    renews: RENEWS,
  });
  const curl = curlLine({ method: 'POST', path: `/api/v1/deployments/${name}/rollouts`, body: rolloutBody(where) });
  return (
    <StagePanel
      title="2. Roll out the simulator"
      state={ROLL_OUT_STATES[stage]}
      lines={[
        { name: 'curl', text: curl },
        { name: 'CLI', text: rolloutLine(name, where) },
      ]}
    >
      {target.data === null && (
        <p className="rounded-md bg-warn-soft p-3 text-sm text-warn">
          No target has the engine <code>sim</code>.{' '}
          <Link to="/targets" className="underline">
            Show targets
          </Link>
        </p>
      )}
      {stage !== 'send' && stage !== 'rolling_out' && (
        <Button
          kind="primary"
          isBusy={rollOut.isPending}
          disabled={stage !== 'roll_out' || !target.data}
          onClick={() => rollOut.mutate(undefined)}
        >
          {operation ? 'Roll out again' : 'Roll out'}
        </Button>
      )}
      {rollOut.error && <ErrorNote error={rollOut.error} />}
      {operation?.status === 'failed' && stage === 'roll_out' && (
        <ErrorNote error={new Error(`The last ${operation.kind} failed: ${operation.message}`)} />
      )}
      {operation && (
        <>
          <p className="text-sm">
            <Link to="/operations/$id" params={{ id: operation.id }} className="underline">
              {operation.kind}
            </Link>
            : {operation.status}, {operation.progress} %
          </p>
          <Steps steps={operation.steps} label={`Steps of the ${operation.kind}`} />
        </>
      )}
    </StagePanel>
  );
}
