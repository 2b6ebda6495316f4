import type { DeploymentEvent } from '@slipway/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { slipway } from '../../api/client.js';

/** An operation has about twenty events; older ones are in the list. */
const MOST_EVENTS = 200;

interface OperationEvents {
  /** The newest first. */
  events: DeploymentEvent[];
  failure: Error | undefined;
  hasEnded: boolean;
}

const NOTHING: OperationEvents = { events: [], failure: undefined, hasEnded: false };

/** The events of an operation up to its end. Each event refreshes the record, because they are written together. */
export function useLiveEvents(id: string): OperationEvents {
  const client = useQueryClient();
  const [live, setLive] = useState<OperationEvents>(NOTHING);
  useEffect(() => {
    const stop = new AbortController();
    setLive(NOTHING);
    void follow(
      id,
      stop.signal,
      (change) => setLive(change),
      () => void client.invalidateQueries({ queryKey: ['operation', id] }),
    );
    return () => stop.abort();
  }, [id, client]);
  return live;
}

async function follow(
  id: string,
  signal: AbortSignal,
  change: (next: (now: OperationEvents) => OperationEvents) => void,
  renew: () => void,
): Promise<void> {
  try {
    for await (const event of slipway.operations.events.follow(id, { signal })) {
      change((now) => ({ ...now, events: [event, ...now.events].slice(0, MOST_EVENTS) }));
      renew();
    }
    if (!signal.aborted) change((now) => ({ ...now, hasEnded: true }));
  } catch (error) {
    if (!signal.aborted) change((now) => ({ ...now, failure: error as Error }));
  }
}
