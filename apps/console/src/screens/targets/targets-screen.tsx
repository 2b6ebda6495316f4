import type { AnswerOf } from '@slipway/sdk';
import { useQuery } from '@tanstack/react-query';
import { slipway } from '../../api/client.js';
import type { Target } from '../../api/items.js';
import { REFRESH_MS } from '../../api/query-client.js';
import { Chip } from '../../ui/chip.js';
import { CopyButton } from '../../ui/copy.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Loaded } from '../../ui/loaded.js';
import { Panel, ScreenHead } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { Devices } from './devices.js';
import { Engines } from './engines.js';
import { instanceCapacityText } from './target-text.js';

type Configuration = AnswerOf<'listTargets'>['configuration'];

/** The targets of instances: their capacity, its holders, and the engines that can be started. */
export function TargetsScreen() {
  const query = useQuery({
    queryKey: ['targets'],
    // An operator's configuration names a handful.
    queryFn: async ({ signal }) => slipway.targets.list({ limit: 200, signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <>
      <ScreenHead
        title="Targets"
        actions={
          <CopyButton text="slipway targets list" label="Copy as CLI">
            CLI
          </CopyButton>
        }
      />
      <Loaded query={query} what="the targets">
        {({ data, configuration }) => (
          <div className="space-y-3">
            <Configured configuration={configuration} />
            {data.length === 0 && <EmptyState title="No targets configured" command="slipway targets list" />}
            {data.map((target) => (
              <TargetPanel key={target.name} target={target} />
            ))}
          </div>
        )}
      </Loaded>
    </>
  );
}

function TargetPanel({ target }: { target: Target }) {
  const { name, kind, status, removed, capacity, conditions, devices, engines } = target;
  return (
    <Panel
      title={name}
      note={
        <>
          <Chip word={status} />
          {removed && <Chip word="no longer configured" tone="warn" />}
          <span className="text-xs text-soft">{kind}</span>
        </>
      }
    >
      <div className="space-y-3">
        {conditions.slice(0, 20).map(({ type, message }) => (
          <p key={type} className="rounded-md bg-warn-soft p-2 text-sm break-words text-warn">
            <strong>{type.replaceAll('_', ' ')}:</strong> {message}
          </p>
        ))}
        <InstanceCapacity capacity={capacity} />
        {devices.length > 0 && <Devices target={name} devices={devices} />}
        <Engines target={name} engines={engines} />
      </div>
    </Panel>
  );
}

function InstanceCapacity({ capacity }: { capacity: Target['capacity'] }) {
  const { in_use, max_instances } = capacity;
  const isFull = max_instances !== null && in_use >= max_instances;
  return (
    <div className="flex flex-wrap items-center gap-3 text-sm">
      <span>
        Instances: <strong className="tabular-nums">{instanceCapacityText(capacity)}</strong>
        {isFull && ', full'}
      </span>
      {max_instances !== null && (
        <span aria-hidden className="h-2 w-48 overflow-hidden rounded-full bg-sunken">
          <span
            className={`block h-full ${isFull ? 'bg-warn' : 'bg-accent'}`}
            style={{ width: `${Math.min(100, (100 * in_use) / Math.max(1, max_instances))}%` }}
          />
        </span>
      )}
    </div>
  );
}

/** Shows the version of the operator's file, and whether it is valid. */
function Configured({ configuration: { current, digest, loaded_at, problems } }: { configuration: Configuration }) {
  return (
    <Panel
      title="Configuration"
      note={<Chip word={current ? 'current' : 'invalid, the last valid one is used'} tone={current ? 'good' : 'bad'} />}
    >
      <p className="text-sm">
        {digest ? (
          <>
            Digest <code title={digest}>{digest.slice(0, 12)}</code>, loaded <Time at={loaded_at} />.
          </>
        ) : (
          'The operator has configured no targets. Only built-in targets are available.'
        )}
      </p>
      {problems.length > 0 && (
        <ul className="mt-2 list-disc pl-5 text-sm text-bad">
          {problems.slice(0, 50).map((problem) => (
            <li key={problem} className="break-words">
              {problem}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
