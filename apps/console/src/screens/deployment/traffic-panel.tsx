import { Chip } from '../../ui/chip.js';
import { classes } from '../../ui/classes.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Loaded } from '../../ui/loaded.js';
import { Panel } from '../../ui/panel.js';
import { ShareNote } from '../../ui/steps.js';
import { Time, useNow } from '../../ui/time.js';
import { shareText } from '../../ui/text/step-text.js';
import { lengthText } from '../../ui/text/time-text.js';
import { useDeployment, useInstances, useOperations, useRoute } from './deployment-data.js';
import { useRecentRequests } from './metrics/metrics-data.js';
import { isLive, shownOperation, resumeMs } from '../../api/operation-state.js';
import { waitNoun } from '../../rollouts/waiting-text.js';
import { DrainingNote } from './draining.js';
import { numberText } from '../../ui/text/number-text.js';
import { isRetired, trafficOf, type TrafficRow } from './traffic.js';

const TONES: Record<TrafficRow['role'], string> = {
  active: 'bg-baseline',
  candidate: 'bg-candidate',
  previous: 'bg-info',
  other: 'bg-soft',
};

/** Shows which revisions get the requests: the desired and the actual shares. */
export function TrafficPanel({ name, className }: { name: string; className?: string }) {
  const deployment = useDeployment(name);
  const route = useRoute(name);
  const { data: instances } = useInstances(name);
  const requests = useRecentRequests(name);
  return (
    <Panel
      title="Traffic"
      className={className}
      note={
        route.data && (
          <span className="text-xs text-soft">
            generation {route.data.generation}, <Time at={route.data.updated_at} />
          </span>
        )
      }
      actions={
        <>
          <SessionShare name={name} />
          <NextStep name={name} />
        </>
      }
    >
      <Loaded query={deployment} what="the deployment">
        {(data) => {
          const rows = trafficOf(data, route.data, instances ?? [], requests ?? new Map<string, number>());
          if (rows.length === 0)
            return (
              <EmptyState
                title="No traffic yet. A rollout starts serving requests."
                command={`slipway rollouts create ${name} --revision-file spec.yaml --strategy immediate`}
              />
            );
          return (
            <div className="space-y-2">
              <Bar label="Desired" rows={rows} of={({ desired }) => desired} none="no route" />
              <Bar
                label="Actual"
                rows={rows}
                of={({ actual }) => actual}
                none={requests ? 'no requests in the last minute' : 'unknown'}
              />
              {route.data?.hold && (
                <p className="text-xs text-warn">
                  The gateway holds each request for at most {route.data.hold.max_seconds} s. Holding started{' '}
                  <Time at={route.data.hold.since} />.
                </p>
              )}
              <DrainingNote deployment={data} />
              <Legend rows={rows} />
            </div>
          );
        }}
      </Loaded>
    </Panel>
  );
}

function Bar(props: {
  label: string;
  rows: readonly TrafficRow[];
  of: (row: TrafficRow) => number | null;
  none: string;
}) {
  const { label, rows, of, none } = props;
  const shares = rows.filter((row) => (of(row) ?? 0) > 0);
  return (
    <div className="flex items-center gap-2 text-xs">
      <span className="w-14 shrink-0 text-soft">{label}</span>
      <div className="flex h-5 min-w-0 grow overflow-hidden rounded bg-sunken">
        {shares.length === 0 && <span className="px-2 leading-5 text-soft">{none}</span>}
        {shares.map((row) => (
          <span
            key={row.revision}
            style={{ width: `${of(row)}%` }}
            title={`${row.revision}: ${numberText(of(row))} %`}
            className={classes(
              '@container h-5 overflow-hidden border-r-2 border-panel leading-5 font-medium whitespace-nowrap text-page last:border-0',
              TONES[row.role],
            )}
          >
            {/* Whole, or not at all: the legend has the number too. */}
            <span className="hidden px-1 @min-[3rem]:block">{numberText(of(row))} %</span>
          </span>
        ))}
      </div>
    </div>
  );
}

const MOST_ROWS = 12;

/** Names the revisions of the bars. Those that have left the traffic are folded away. */
function Legend({ rows }: { rows: readonly TrafficRow[] }) {
  const retired = rows.filter(isRetired);
  return (
    <div className="space-y-1 text-xs">
      <Rows rows={rows.filter((row) => !isRetired(row))} />
      {retired.length > 0 && (
        <details>
          <summary className="cursor-pointer text-soft">
            {retired.length} {retired.length === 1 ? 'revision' : 'revisions'} without traffic
          </summary>
          <Rows rows={retired} />
        </details>
      )}
    </div>
  );
}

const Rows = ({ rows }: { rows: readonly TrafficRow[] }) => (
  <ul className="flex flex-wrap gap-x-4 gap-y-1">
    {rows.slice(0, MOST_ROWS).map((row) => (
      <Row key={row.revision} row={row} />
    ))}
    {rows.length > MOST_ROWS && <li className="text-soft">and {rows.length - MOST_ROWS} more</li>}
  </ul>
);

function Row({ row }: { row: TrafficRow }) {
  const isShort = (row.desired ?? 0) > 0 && row.healthy < row.instances;
  return (
    <li className="flex items-baseline gap-1.5">
      <span aria-hidden className={classes('size-2.5 shrink-0 rounded-sm', TONES[row.role])} />
      <span className="flex min-w-0 flex-wrap items-baseline gap-x-1.5">
        <span className="min-w-0 font-medium wrap-anywhere">{row.revision}</span>
        <span className="text-soft">
          {row.role === 'other' ? '' : `${row.role}, `}
          {row.desired === null ? 'not routed' : `${row.desired} %`}
          {row.actual !== null && `, actual ${numberText(row.actual)} %`}
        </span>
        <span className={classes(isShort && 'font-medium text-bad')}>
          {row.healthy} of {row.instances} healthy
        </span>
        {row.isLastGood && <Chip word="last good" tone="good" />}
      </span>
    </li>
  );
}

/** Shows if sessions did not follow the share of the traffic of the last step that has one. */
function SessionShare({ name }: { name: string }) {
  const { data } = useOperations(name);
  const operation = shownOperation(data ?? []);
  if (!operation || !isLive(operation)) return null;
  const step = operation.steps.findLast(({ evidence }) => shareText(evidence) !== undefined);
  return step ? <ShareNote label={step.name} evidence={step.evidence} /> : null;
}

function NextStep({ name }: { name: string }) {
  const { data } = useOperations(name);
  const now = useNow();
  const operation = shownOperation(data ?? []);
  if (!operation) return null;
  const end = resumeMs(operation);
  if (end !== null)
    return (
      <span className="text-xs">
        Next step {end > now ? <strong>in {lengthText(end - now)}</strong> : <strong>due now</strong>}
      </span>
    );
  if (!isLive(operation) || !operation.waiting_for) return null;
  return <span className="text-xs font-medium text-warn">Next step waits for {waitNoun(operation.waiting_for)}</span>;
}
