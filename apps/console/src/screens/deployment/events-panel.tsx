import { ScrollText } from 'lucide-react';
import { memo, useDeferredValue, useState } from 'react';
import { useAddress } from '../../api/search.js';
import type { LoggedEvent } from '../../api/event-log.js';
import type { Instance } from '../../api/items.js';
import type { LiveEvents } from '../../api/live-events.js';
import { useMay } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chip.js';
import { classes } from '../../ui/classes.js';
import { EmptyState } from '../../ui/empty-state.js';
import { ErrorNote } from '../../ui/error-note.js';
import { Loaded } from '../../ui/loaded.js';
import { Panel } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { Waiting } from '../../ui/waiting.js';
import { useInstances } from './deployment-data.js';
import { eventLine, isEventMatch } from './event-text.js';
import { Scrolled } from './scrolled.js';
import { actorText } from './short-text.js';

const MOST_SHOWN = 200;

/** Shows events as they happen, and the instances with the output of their engines. */
export function EventsPanel({ name, live, className }: { name: string; live: LiveEvents; className?: string }) {
  const [{ show, events: filter = '' }, change] = useAddress();
  const isInstances = show === 'instances';
  return (
    <Panel
      title={isInstances ? 'Instances' : 'Events'}
      className={className}
      note={isInstances ? undefined : <Chip word={live.state} tone={live.state === 'live' ? 'good' : 'warn'} />}
      actions={
        <Button
          kind="quiet"
          isSmall
          aria-pressed={isInstances}
          onClick={() => change({ show: isInstances ? undefined : 'instances' })}
        >
          {isInstances ? 'Show events' : 'Show instances and logs'}
        </Button>
      }
    >
      {isInstances ? (
        <Instances name={name} />
      ) : (
        <div className="flex h-full flex-col gap-2">
          <input
            type="search"
            aria-label="Filter events"
            placeholder="Filter: type, actor, step…"
            value={filter}
            onChange={(event) => change({ events: event.target.value })}
            className="h-7 w-full shrink-0 rounded-md border border-line-strong bg-panel px-2 text-xs placeholder:text-soft"
          />
          <div className="min-h-0 grow">
            <Events name={name} live={live} filter={filter} />
          </div>
        </div>
      )}
    </Panel>
  );
}

function Events({ name, live, filter }: { name: string; live: LiveEvents; filter: string }) {
  // Typing must not wait until a thousand events are searched.
  const sought = useDeferredValue(filter);
  if (live.state === 'ended' && live.error) return <ErrorNote error={live.error} />;
  if (live.state === 'starting' && live.events.length === 0) return <Waiting for="the events" />;
  const found = live.events.filter(({ event }) => isEventMatch(event, sought));
  if (found.length === 0)
    return (
      <EmptyState
        title={live.events.length === 0 ? 'No events yet' : 'No loaded event matches the filter'}
        command={`slipway events ${name}`}
      />
    );
  const shown = found.slice(-MOST_SHOWN).reverse();
  return (
    <Scrolled label="Events, newest first">
      <ol className="divide-y divide-line text-xs">
        {shown.map((one) => (
          <Row key={one.event.sequence} logged={one} />
        ))}
      </ol>
      <p className="pt-2 text-xs text-soft">
        Showing {shown.length} of {found.length}. To list all, run <code>slipway events {name} --limit 1000</code>.
      </p>
    </Scrolled>
  );
}

/** Rendered once: the events around it change four times a second. */
const Row = memo(function Row({ logged: { event, missingBefore } }: { logged: LoggedEvent }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex w-full flex-wrap items-baseline gap-x-2 py-1 text-left hover:bg-sunken"
      >
        <span className="text-soft">{event.sequence}</span>
        <span className="font-medium">{event.type}</span>
        <span className="ml-auto text-soft">
          <Time at={event.time} />
        </span>
        <span className="w-full truncate text-soft">
          {eventLine(event)} · {actorText(event.actor)}
        </span>
      </button>
      {isOpen && (
        <pre
          className="max-h-60 overflow-auto rounded bg-sunken p-2"
          tabIndex={0}
          role="region"
          aria-label={`Event ${event.sequence}`}
        >
          {JSON.stringify(event, null, 2).slice(0, 20_000)}
        </pre>
      )}
      {missingBefore > 0 && (
        <p className="rounded bg-warn-soft px-2 py-1 text-warn">
          {missingBefore} {missingBefore === 1 ? 'event is' : 'events are'} missing here,{' '}
          {event.sequence - missingBefore} to {event.sequence - 1}. The connection was lost for too long.
        </p>
      )}
    </li>
  );
});

function Instances({ name }: { name: string }) {
  const instances = useInstances(name);
  return (
    <Loaded query={instances} what="the instances">
      {(rows) =>
        rows.length === 0 ? (
          <EmptyState title="No instances are running" command={`slipway instances list ${name}`} />
        ) : (
          <Scrolled label="Instances">
            <ul className="divide-y divide-line text-xs">
              {rows.slice(0, MOST_SHOWN).map((instance) => (
                <InstanceRow key={instance.id} instance={instance} />
              ))}
            </ul>
          </Scrolled>
        )
      }
    </Loaded>
  );
}

function InstanceRow({ instance }: { instance: Instance }) {
  const [, change] = useAddress();
  const mayRead = useMay('operator');
  const { id, revision, ordinal, state, reason, message, restarts, place, in_flight, started_at, failure } = instance;
  return (
    <li className="space-y-0.5 py-1">
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-medium">
          {revision}/{ordinal}
        </span>
        <Chip word={state} />
        <span className="text-soft">{in_flight} in flight</span>
        <span className={classes(restarts > 0 ? 'text-warn' : 'text-soft')}>{restarts} restarts</span>
        {mayRead && (
          <Button
            kind="quiet"
            isSmall
            className="ml-auto"
            icon={<ScrollText aria-hidden className="size-3.5" />}
            aria-label={`Show logs of ${revision}/${ordinal}`}
            onClick={() => change({ logs: id })}
          >
            Show logs
          </Button>
        )}
      </div>
      <p className="text-soft">
        Started <Time at={started_at} />
        {place && ` · ${place}`}
        {reason && ` · ${reason}`}
      </p>
      {(failure ?? message) && (
        <p className="break-words text-bad">{failure ? `${failure.message} ${failure.remediation}` : message}</p>
      )}
    </li>
  );
}
