import type { AnswerOf } from '@slipway/sdk';
import { useQuery } from '@tanstack/react-query';
import { systemQuery } from '../../api/system.js';
import { sessionQuery } from '../../api/who.js';
import { Chip } from '../../ui/chip.js';
import { CopyButton } from '../../ui/copy.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Facts } from '../../ui/facts.js';
import { Loaded } from '../../ui/loaded.js';
import { Panel, ScreenHead } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { lengthText } from '../../ui/text/time-text.js';
import { Gateways, Workers } from './processes.js';

type SystemAnswer = AnswerOf<'getSystem'>;

/** The service itself: its processes, their versions, and whether they keep up. */
export function SystemScreen() {
  const query = useQuery(systemQuery);
  return (
    <>
      <ScreenHead
        title="System"
        actions={
          <CopyButton text="slipway system" label="Copy as CLI">
            CLI
          </CopyButton>
        }
      />
      <Loaded query={query} what="the system">
        {(system) =>
          system ? (
            <Told system={system} />
          ) : (
            <EmptyState title="This version of the API reports no system information" command="slipway doctor" />
          )
        }
      </Loaded>
    </>
  );
}

function Told({ system }: { system: SystemAnswer }) {
  const { database, queue, workers, gateways } = system;
  return (
    <div className="space-y-3">
      <div className="grid gap-3 md:grid-cols-2 xl:grid-cols-4">
        <Api system={system} />
        {database && <Database of={database} />}
        {queue && <Queue of={queue} />}
        <Retention days={system.retention_days} />
      </div>
      {workers && <Workers workers={workers} />}
      {gateways && <Gateways gateways={gateways} />}
      {!database && (
        <p className="text-sm text-soft">Only the operator tenant sees Postgres, the queue, workers and gateways.</p>
      )}
    </div>
  );
}

function Api({ system: { version, node_version, started_at, schema } }: { system: SystemAnswer }) {
  const { data: session } = useQuery(sessionQuery);
  return (
    <Panel title="API" note={<Chip word="responding" tone="good" />}>
      <Facts
        of={{
          version,
          node: node_version,
          started: <Time at={started_at} />,
          migrations: schema && (
            <>
              {schema.applied} applied, newest <code className="text-xs wrap-anywhere">{schema.newest}</code>
            </>
          ),
          gateway: session && <code className="text-xs wrap-anywhere">{session.gateway}</code>,
        }}
      />
    </Panel>
  );
}

function Database({ of: { version, latency_ms, started_at } }: { of: NonNullable<SystemAnswer['database']> }) {
  return (
    <Panel title="Postgres" note={<Chip word="responding" tone="good" />}>
      <Facts of={{ version, 'response time': lengthText(latency_ms), started: <Time at={started_at} /> }} />
    </Panel>
  );
}

function Queue({ of: { backend, outbox, operations } }: { of: NonNullable<SystemAnswer['queue']> }) {
  return (
    <Panel title="Queue">
      <Facts
        of={{
          backend,
          'wake-ups waiting': behindText(outbox.waiting, outbox.oldest_seconds),
          'operations due': behindText(operations.due, operations.oldest_due_seconds),
          running: operations.running,
          asleep: operations.asleep,
        }}
      />
    </Panel>
  );
}

const behindText = (count: number, oldest: number | null): string =>
  oldest === null ? String(count) : `${count}, the oldest for ${lengthText(oldest * 1000)}`;

function Retention({ days }: { days: SystemAnswer['retention_days'] }) {
  const kept = Object.entries(days).map(([what, count]) => [
    what.replaceAll('_', ' '),
    `${count} ${count === 1 ? 'day' : 'days'}`,
  ]);
  return (
    <Panel title="Retention">
      <Facts of={Object.fromEntries(kept)} />
    </Panel>
  );
}
