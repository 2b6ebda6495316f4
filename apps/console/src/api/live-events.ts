import { isSlipwayError } from '@slipway/sdk';
import { slipway } from './client.js';
import { EventLog, type LoggedEvent } from './event-log.js';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';

const NOTHING: LiveEvents = { events: [], state: 'starting', since: Date.now(), error: null };
const never = () => () => undefined;

/**
 * Returns the newest events of a deployment, then new ones while the page is open.
 * `onNew` is called immediately for each type.
 */
export function useDeploymentEvents(deployment: string, onNew: (type: string) => void): LiveEvents {
  const [feed, setFeed] = useState<EventFeed>();
  const latest = useRef(onNew);
  latest.current = onNew;
  useEffect(() => {
    const made = new EventFeed(deployment, (type) => latest.current(type));
    setFeed(made);
    return () => made.stop();
  }, [deployment]);
  return useSyncExternalStore(feed?.subscribe ?? never, feed?.read ?? (() => NOTHING));
}

/** How many of the newest events are read before new ones are followed. */
const FIRST = 100;
/** The interval of updates to the screen. */
const TELL_MS = 250;
const MOST_PAUSE_MS = 15_000;

export interface LiveEvents {
  /** Oldest first. */
  events: readonly LoggedEvent[];
  state: 'starting' | 'live' | 'away' | 'ended';
  /** The start of this state, in ms. */
  since: number;
  /** Why the stream is away or has ended. */
  error: Error | null;
}

/**
 * Follows the events of a deployment from the newest on, and continues after the last one when a connection is lost.
 * Listeners are notified at most four times per second, however many events arrive.
 */
export class EventFeed {
  private readonly log = new EventLog();
  private readonly stopped = new AbortController();
  private readonly listeners = new Set<() => void>();
  private telling: ReturnType<typeof setTimeout> | undefined;
  private state: Omit<LiveEvents, 'events'> = { state: 'starting', since: Date.now(), error: null };
  private snapshot: LiveEvents = { ...this.state, events: [] };

  /** @param onNew is called immediately for each event after the first answer */
  constructor(
    private readonly deployment: string,
    private readonly onNew: (type: string) => void,
  ) {
    void this.run();
  }

  readonly read = (): LiveEvents => this.snapshot;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  stop(): void {
    this.stopped.abort();
    clearTimeout(this.telling);
    this.listeners.clear();
  }

  private async run(): Promise<void> {
    const { signal } = this.stopped;
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        await this.readNewest();
        failures = 0;
        this.become('live', null);
        await this.follow();
      } catch (error) {
        if (signal.aborted) return;
        // The api no longer keeps the position to continue from: the newest events are
        // read again, and the screen shows the gap.
        const isPassing = isSlipwayError(error, 'cursor_expired') || (isSlipwayError(error) && error.retryable);
        this.become(isPassing ? 'away' : 'ended', error as Error);
        if (!isPassing) return;
      }
      await pause(Math.min(MOST_PAUSE_MS, 1_000 * 2 ** failures), signal);
    }
  }

  private async readNewest(): Promise<void> {
    const { signal } = this.stopped;
    const isFirst = this.log.lastSequence === undefined;
    const { data } = await slipway.deployments.events.list(this.deployment, { order: 'desc', limit: FIRST, signal });
    for (const event of data.reverse()) if (this.log.add(event) && !isFirst) this.onNew(event.type);
    this.tell();
  }

  private async follow(): Promise<void> {
    const { signal } = this.stopped;
    const behind = { after: this.log.lastSequence ?? 0, signal };
    for await (const event of slipway.deployments.events.follow(this.deployment, behind)) {
      if (!this.log.add(event)) continue;
      this.onNew(event.type);
      this.tell();
    }
  }

  private become(state: LiveEvents['state'], error: Error | null): void {
    if (state !== this.state.state) this.state = { state, since: Date.now(), error };
    this.tell();
  }

  private tell(): void {
    this.telling ??= setTimeout(() => {
      this.telling = undefined;
      this.snapshot = { ...this.state, events: this.log.all() };
      for (const listener of this.listeners) listener();
    }, TELL_MS);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
