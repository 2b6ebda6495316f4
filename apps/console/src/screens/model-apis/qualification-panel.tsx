import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { createColumnHelper } from '@tanstack/react-table';
import { BadgeCheck } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { request } from 'request:qualifyTargetBinding';
import { commandsOf } from '../../actions/commands.js';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import type { Binding } from '../../api/items.js';
import { REFRESH_MS } from '../../api/query-client.js';
import { useMay } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { Chip, type Tone } from '../../ui/chip.js';
import { CopyAs } from '../../ui/copy.js';
import { DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { ErrorNote } from '../../ui/error-note.js';
import { Panel } from '../../ui/panel.js';
import { Steps } from '../../ui/steps.js';
import { Time } from '../../ui/time.js';
import { lengthText } from '../../ui/text/time-text.js';
import { targetText } from './flow.js';

const qualification = ({ id }: Binding) =>
  commandsOf({ request, ids: [id], body: {} }, { words: 'bindings qualify', end: '--wait' });

/** A person watches while it runs. */
const LIVE_MS = 1_000;

/** Shows the previous and the running qualification of a binding. */
export function QualificationPanel({ binding }: { binding: Binding | undefined }) {
  if (!binding)
    return (
      <Panel title="3 Qualification">
        <p className="text-sm text-soft">
          A qualification calls a binding as the gateway would. Create a binding first.
        </p>
      </Panel>
    );
  return <Qualification binding={binding} />;
}

function Qualification({ binding }: { binding: Binding }) {
  const mayChange = useMay('admin');
  const latest = useLatestRun(binding.id);
  const operation = latest.data;
  const isRunning = operation?.completed_at === null;
  const qualify = useAction({
    run: () => slipway.admin.modelApi.targetBindings.qualify(binding.id),
    renews: [['operations', 'of-binding', binding.id], ['model-api-bindings']],
  });
  const { checked_at, checks, drifted_since } = binding.qualification;
  return (
    <Panel
      title="3 Qualification"
      note={<Chip word={isRunning ? 'running' : binding.state} />}
      actions={
        mayChange && (
          <>
            <CopyAs action={qualification(binding)} />
            <Button
              isSmall
              kind={binding.state === 'qualified' ? 'plain' : 'primary'}
              isBusy={qualify.isPending}
              disabled={isRunning}
              icon={<BadgeCheck aria-hidden className="size-3.5" />}
              onClick={() => qualify.mutate(undefined)}
            >
              Qualify
            </Button>
          </>
        )
      }
    >
      <div className="space-y-3">
        <p className="text-sm">
          <span className="font-medium break-all">{targetText(binding)}</span>{' '}
          <span className="text-soft">
            last checked <Time at={checked_at} />
          </span>
        </p>
        {drifted_since && (
          <p className="rounded-md bg-bad-soft p-2 text-sm text-bad">
            Its server serves another model. Gateways do not call it until it serves the right model again. Detected{' '}
            <Time at={drifted_since} />.
          </p>
        )}
        {qualify.error && <ErrorNote error={qualify.error} />}
        {latest.error && !operation && <ErrorNote error={latest.error} onAgain={() => void latest.refetch()} />}
        {operation && (isRunning || operation.status !== 'succeeded') && <Run operation={operation} />}
        {!isRunning && checks.length > 0 && (
          <DataTable
            caption="Checks of the last qualification"
            columns={COLUMNS}
            rows={checks}
            idOf={({ name }) => name}
            className="max-h-72 overflow-y-auto"
          />
        )}
        {!isRunning && checks.length === 0 && (
          <EmptyState title="Not qualified yet" command={qualification(binding).cli} />
        )}
      </div>
    </Panel>
  );
}

/** Returns the newest run of the binding, and follows it while it runs; then the binding contains its result. */
function useLatestRun(id: string) {
  const client = useQueryClient();
  const latest = useQuery({
    queryKey: ['operations', 'of-binding', id],
    queryFn: async ({ signal }) => {
      const { data } = await slipway.operations.list({
        kind: 'qualify_target_binding',
        resource_name: id,
        limit: 1,
        signal,
      });
      return data[0] ?? null;
    },
    refetchInterval: ({ state }) => (state.data?.completed_at === null ? LIVE_MS : REFRESH_MS),
  });
  const isRunning = latest.data?.completed_at === null;
  const wasRunning = useRef(isRunning);
  useEffect(() => {
    if (wasRunning.current && !isRunning) void client.invalidateQueries({ queryKey: ['model-api-bindings'] });
    wasRunning.current = isRunning;
  }, [isRunning, client]);
  return latest;
}

type Operation = NonNullable<ReturnType<typeof useLatestRun>['data']>;

function Run({ operation }: { operation: Operation }) {
  const { id, status, message, steps } = operation;
  const isRunning = operation.completed_at === null;
  return (
    <div className="space-y-2">
      <p role="status" className="flex flex-wrap items-center gap-2 text-sm">
        <Chip word={status} />
        <span className="min-w-0 break-words">{message}</span>
        <Link to="/operations/$id" params={{ id }} className="underline">
          Operation
        </Link>
      </p>
      {isRunning && <Steps steps={steps} label="Steps of the qualification" />}
    </div>
  );
}

type Check = Binding['qualification']['checks'][number];

const RESULT_TONES: Record<string, Tone> = { passed: 'good', failed: 'bad', not_applicable: 'plain' };

const column = createColumnHelper<Check>();

const COLUMNS = [
  column.accessor('name', { header: 'Check', cell: ({ getValue }) => <code className="text-xs">{getValue()}</code> }),
  column.accessor('result', {
    header: 'Result',
    cell: ({ getValue }) => <Chip word={getValue()} tone={RESULT_TONES[getValue()] ?? 'plain'} />,
  }),
  column.accessor('message', { header: 'Message', enableSorting: false }),
  column.accessor('duration_ms', {
    header: 'Duration',
    cell: ({ getValue }) => (
      <span className="whitespace-nowrap">{getValue() === null ? '' : lengthText(getValue()!)}</span>
    ),
  }),
];
