import type { DeploymentEvent, Operation } from '@slipway/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { NamedActor } from '../../api/actor-name.js';
import { slipway } from '../../api/client.js';
import { decisiveStepOf, isLive, resumeMs } from '../../api/operation-state.js';
import { REFRESH_MS } from '../../api/query-client.js';
import { remediationOf } from '../../api/remediation.js';
import { Chip } from '../../ui/chip.js';
import { CopyButton } from '../../ui/copy.js';
import { ErrorNote } from '../../ui/error-note.js';
import { Facts } from '../../ui/facts.js';
import { FittedTable, TitledTable, type TitledRow } from '../../ui/fitted-table.js';
import { Loaded } from '../../ui/loaded.js';
import { Panel, ScreenHead } from '../../ui/panel.js';
import { Steps } from '../../ui/steps.js';
import { Time, useNow } from '../../ui/time.js';
import { metricText } from '../../ui/text/number-text.js';
import { lengthText } from '../../ui/text/time-text.js';
import { Waiting } from '../../ui/waiting.js';
import { concernOf } from './concern.js';
import { useLiveEvents } from './live-events.js';
import { OperationControls } from '../../rollouts/operation-controls.js';
import {
  boundsText,
  judgementsOf,
  limitText,
  samplesText,
  type GateResult,
  type Judgement,
} from '../../rollouts/verdicts.js';
import { WaitNote } from '../../rollouts/wait-note.js';
import { waitNoun, waitSentence } from '../../rollouts/waiting-text.js';
import { ResourceLink } from './resource-link.js';

export function OperationScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useQuery({
    queryKey: ['operation', id],
    queryFn: ({ signal }) => slipway.operations.get(id, { signal }),
    refetchInterval: ({ state }) => (state.data && !isLive(state.data) ? false : REFRESH_MS),
  });
  return (
    <>
      {!query.data && <ScreenHead title="Operation" />}
      <Loaded query={query} what="the operation">
        {(operation) => <Shown operation={operation} />}
      </Loaded>
    </>
  );
}

function Shown({ operation }: { operation: Operation }) {
  return (
    <>
      <ScreenHead
        title={
          <>
            {operation.kind} of <ResourceLink of={operation} />
          </>
        }
        note={<Chip word={operation.status} />}
        actions={<OperationControls operation={operation} />}
      />
      <ConcernNote operation={operation} />
      <div className="grid gap-3 xl:grid-cols-[minmax(0,1fr)_28rem]">
        <div className="min-w-0 space-y-3">
          <Panel title="Steps" note={<span className="text-xs text-soft">{positionText(operation)}</span>}>
            <Steps steps={operation.steps} label="Steps" decisive={decisiveStepOf(operation)?.name} />
          </Panel>
          <Verdicts operation={operation} />
          <Told id={operation.id} />
        </div>
        <div className="min-w-0 space-y-3">
          <Panel title="Record" actions={<CopyButton text={operation.id} label="Copy ID" />}>
            <Record operation={operation} />
          </Panel>
          <Panel title="Result">
            <OperationJson value={operation.result} label="Result as JSON" />
          </Panel>
        </div>
      </div>
    </>
  );
}

/** The newest verdicts as a table, and those of earlier steps folded below it. Work without a gate has none. */
function Verdicts({ operation }: { operation: Operation }) {
  const [newest, ...earlier] = judgementsOf(operation);
  if (!newest) return null;
  return (
    <Panel title={`Verdicts of ${newest.step}`} note={newest.verdict && <Chip word={newest.verdict} />}>
      <VerdictTable judgement={newest} />
      {earlier.map((judgement) => (
        <details key={judgement.step} className="mt-2 text-sm">
          <summary className="cursor-pointer text-soft">
            {judgement.step} {judgement.verdict}
          </summary>
          <VerdictTable judgement={judgement} />
        </details>
      ))}
    </Panel>
  );
}

const VERDICT_TITLES = ['Metric', 'Baseline', 'Candidate', 'Limit', 'Regression (bounds)', 'Samples', 'Verdict'];

/** The verdicts of one step: each metric of both revisions next to its limit. */
function VerdictTable({ judgement: { step, results } }: { judgement: Judgement }) {
  const label = `Verdicts of ${step}`;
  return (
    <FittedTable label={label}>
      <TitledTable caption={label} titles={VERDICT_TITLES} rows={results.map(verdictRow)} />
    </FittedTable>
  );
}

function verdictRow(result: GateResult): TitledRow {
  const { metric, stat, check, baseline, candidate, verdict, dry_run } = result;
  const name = (
    <>
      {metric} {stat}
      {check === 'guard' && <span className="font-normal text-soft"> (guard)</span>}
      {dry_run && <span className="font-normal text-soft"> (dry run)</span>}
    </>
  );
  return {
    key: `${metric} ${stat} ${check}`,
    cells: [
      name,
      metricText(metric, baseline?.value),
      metricText(metric, candidate?.value),
      limitText(result),
      boundsText(result),
      samplesText(result),
      <Chip key="verdict" word={verdict} />,
    ],
  };
}

function ConcernNote({ operation }: { operation: Operation }) {
  const now = useNow();
  if (operation.status === 'failed' || operation.status === 'cancelled')
    return (
      <div className="mb-3 rounded-md bg-bad-soft p-3 text-sm text-bad">
        <p className="font-medium">
          {operation.status} <code>{operation.error_code}</code>
        </p>
        {operation.message && <p className="break-words">{operation.message}</p>}
        {operation.error_code && <p>{remediationOf(operation)}</p>}
        {operation.superseded_by && (
          <p>
            Superseded by <OperationLink id={operation.superseded_by} />
          </p>
        )}
      </div>
    );
  const concern = concernOf(operation, now);
  return (
    <div className="mb-3 space-y-2 text-sm empty:hidden">
      <WaitNote operation={operation} />
      {concern && !waitSentence(operation) && (
        <p className="rounded-md bg-warn-soft p-2 text-warn">Needs attention: {concern.text}.</p>
      )}
    </div>
  );
}

function positionText({ steps, current_step, progress }: Operation): string {
  const position = steps.findIndex(({ name }) => name === current_step) + 1;
  return `step ${position} of ${steps.length}, ${progress} %`;
}

function Record({ operation }: { operation: Operation }) {
  const now = useNow();
  const { created_at, completed_at, attempt, max_attempts } = operation;
  const continues = resumeMs(operation);
  const took = (completed_at ? Date.parse(completed_at) : now) - Date.parse(created_at);
  return (
    <Facts
      of={{
        id: <code className="text-xs wrap-anywhere">{operation.id}</code>,
        kind: operation.kind,
        step: (
          <>
            <code>{operation.current_step}</code> {operation.current_step_status}
          </>
        ),
        attempt: attempt === 0 ? 'none yet' : `${attempt} of ${max_attempts}`,
        'waits for': operation.waiting_for && waitNoun(operation.waiting_for),
        continues: continues !== null && <Time at={new Date(continues).toISOString()} />,
        bake: typeof operation.result['bake_operation_id'] === 'string' && (
          <OperationLink id={operation.result['bake_operation_id']} />
        ),
        'cancel requested': operation.cancel_requested ? 'yes' : 'no',
        message: operation.message || null,
        'cancel reason': operation.cancel_reason,
        reason: operation.reason,
        'requested by': (
          <>
            {nameOf(operation.requested_by)}
            {operation.requested_by.type} <code className="text-xs wrap-anywhere">{operation.requested_by.id}</code>
          </>
        ),
        'idempotency key': operation.idempotency_key && (
          <code className="text-xs wrap-anywhere">{operation.idempotency_key}</code>
        ),
        request: operation.request_id && <code className="text-xs wrap-anywhere">{operation.request_id}</code>,
        created: <Time at={created_at} />,
        updated: <Time at={operation.updated_at} />,
        [completed_at ? 'duration' : 'running for']: lengthText(took),
      }}
    />
  );
}

/** The name in front of the id, if the api knows it. */
const nameOf = (actor: NamedActor): string => (actor.name ? `${actor.name}, ` : '');

function OperationLink({ id }: { id: string }) {
  return (
    <Link to="/operations/$id" params={{ id }} className="wrap-anywhere underline">
      {id}
    </Link>
  );
}

function OperationJson({ value, label }: { value: unknown; label: string }) {
  return (
    <pre tabIndex={0} role="region" aria-label={label} className="max-h-80 overflow-auto rounded bg-sunken p-2 text-xs">
      {JSON.stringify(value, null, 2).slice(0, 20_000)}
    </pre>
  );
}

/** Shows its events as they happen. */
function Told({ id }: { id: string }) {
  const { events, failure, hasEnded } = useLiveEvents(id);
  return (
    <Panel
      title="Events"
      note={<Chip word={hasEnded ? 'ended' : failure ? 'disconnected' : 'live'} tone={failure ? 'bad' : 'plain'} />}
      actions={
        <CopyButton text={`slipway operations events ${id} --follow`} label="Copy as CLI">
          CLI
        </CopyButton>
      }
    >
      {failure && <ErrorNote error={failure} />}
      {events.length === 0 &&
        !failure &&
        (hasEnded ? <p className="text-sm">No events are stored.</p> : <Waiting for="events" />)}
      {events.length > 0 && <EventList events={events} />}
    </Panel>
  );
}

function EventList({ events }: { events: DeploymentEvent[] }) {
  return (
    <div tabIndex={0} role="region" aria-label="Events, newest first" className="max-h-96 overflow-auto">
      <ol className="space-y-1 text-sm">
        {events.map((event) => (
          <li key={event.id} className="flex flex-wrap gap-x-3 border-b border-line pb-1 last:border-0">
            <span className="text-soft tabular-nums">{event.sequence}</span>
            <span className="text-soft">
              <Time at={event.time} />
            </span>
            <code>{event.type}</code>
            <code className="min-w-0 text-xs wrap-anywhere text-soft">
              {JSON.stringify(event.data).slice(0, 1_000)}
            </code>
          </li>
        ))}
      </ol>
    </div>
  );
}
