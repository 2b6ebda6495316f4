import type { QueryClient, QueryKey } from '@tanstack/react-query';

/** The minimum between two rounds of requests; the first one is sent immediately. */
const APART_MS = 400;

/** The queries that an event changes, by the first word of their keys. */
const TOUCHED: Record<string, readonly string[]> = {
  deployment: ['deployment'],
  revision: ['deployment', 'revisions'],
  rollout: ['deployment', 'operations', 'revisions', 'analysis'],
  rollback: ['deployment', 'operations', 'revisions'],
  restart: ['deployment', 'operations', 'instances'],
  operation: ['deployment', 'operations', 'revisions'],
  route: ['deployment', 'route', 'operations', 'revisions'],
  instance: ['deployment', 'instances'],
  policy: ['policy', 'diagnosis'],
  plan: ['plans', 'diagnosis'],
  autopilot: ['diagnosis'],
};
const ALL = [...new Set(Object.values(TOUCHED).flat())];

/** An event of a kind that a later api has added may have changed everything. */
export const touchedBy = (type: string): readonly string[] => TOUCHED[type.slice(0, type.indexOf('.'))] ?? ALL;

export const keyOf = (what: string, deployment: string): QueryKey =>
  what === 'operations' || what === 'plans' ? [what, { deployment }] : [what, deployment];

/**
 * Reads the data again that events touch: immediately, then in rounds, so that many events cause no more requests than
 * a few. The next event does not interrupt a running round, or a busy deployment would never be read completely.
 */
export function renewalOf(client: QueryClient, deployment: string): (type: string) => void {
  const touched = new Set<string>();
  let isRunning = false;
  const run = async () => {
    isRunning = true;
    while (touched.size > 0) {
      const now = [...touched];
      touched.clear();
      const apart = new Promise((resolve) => setTimeout(resolve, APART_MS));
      await Promise.all(
        now.map((what) => client.invalidateQueries({ queryKey: keyOf(what, deployment) }, { cancelRefetch: false })),
      );
      await apart;
    }
    isRunning = false;
  };
  return (type) => {
    for (const what of touchedBy(type)) touched.add(what);
    if (!isRunning) void run();
  };
}
