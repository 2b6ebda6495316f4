import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { EventFeed, type LiveEvents } from './live-events.js';

const NOTHING: LiveEvents = { events: [], state: 'starting', since: Date.now(), error: null };
const never = () => () => undefined;

/** The newest events of a deployment, and those that come, as long as somebody looks. `onNew` hears of each type at once. */
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
