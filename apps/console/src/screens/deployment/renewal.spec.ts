import { QueryClient } from '@tanstack/react-query';
import { describe, expect, it } from '@jest/globals';
import { keyOf, renewalOf, touchedBy } from './renewal.js';

describe('the queries that an event touches', () => {
  it('follow from its kind', () => {
    expect(touchedBy('policy.updated')).toEqual(['policy', 'diagnosis']);
    expect(touchedBy('autopilot.diagnosed')).toEqual(['diagnosis']);
    expect(touchedBy('route.updated')).toContain('route');
    expect(touchedBy('restart.started')).toEqual(['deployment', 'operations', 'instances']);
    expect(touchedBy('operation.status_changed')).toContain('operations');
  });
  it('are all of them if the kind is unknown', () =>
    expect(touchedBy('surprise.made')).toEqual(expect.arrayContaining(['deployment', 'route', 'plans', 'instances'])));
});

describe('reading again', () => {
  const asked = (client: QueryClient) => {
    const keys: unknown[] = [];
    client.invalidateQueries = (async ({ queryKey }: { queryKey: unknown }) => {
      keys.push(queryKey);
    }) as unknown as QueryClient['invalidateQueries'];
    return keys;
  };

  it('begins immediately, and requests once more for all events in between', async () => {
    const client = new QueryClient();
    const keys = asked(client);
    const renew = renewalOf(client, 'chat');
    renew('autopilot.diagnosed');
    expect(keys).toEqual([keyOf('diagnosis', 'chat')]);
    for (let n = 0; n < 500; n += 1) renew('plan.created');
    expect(keys).toHaveLength(1);
    const until = Date.now() + 5_000;
    while (keys.length < 3 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(keys).toEqual([keyOf('diagnosis', 'chat'), keyOf('plans', 'chat'), keyOf('diagnosis', 'chat')]);
  });
});
