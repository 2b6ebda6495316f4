import type { QueryClient, QueryKey } from '@tanstack/react-query';

/** Two rounds of questions are at least so far apart; the first one goes out at once. */
const APART_MS = 400;

/** What an event says has changed, by the first word of the keys. */
const TOUCHED: Record<string, readonly string[]> = {
  deployment: ['deployment'],
  revision: ['deployment', 'revisions'],
  rollout: ['deployment', 'operations', 'revisions', 'analysis'],
  rollback: ['deployment', 'operations', 'revisions'],
  operation: ['deployment', 'operations', 'revisions'],
  route: ['deployment', 'route', 'operations', 'revisions'],
  instance: ['deployment', 'instances'],
  policy: ['policy'],
  plan: ['plans'],
};
const ALL = [...new Set(Object.values(TOUCHED).flat())];

/** Of an event whose kind a later api has added everything may have changed. */
export const touchedBy = (type: string): readonly string[] => TOUCHED[type.slice(0, type.indexOf('.'))] ?? ALL;

export const keyOf = (what: string, deployment: string): QueryKey =>
  what === 'operations' || what === 'plans' ? [what, { deployment }] : [what, deployment];

/**
 * Reads anew what events touch: at once, then in rounds, so that many events ask no more often than a few. A round that is under way is not
 * cut off by the next event, else a busy deployment would never be read to the end.
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
