import type { Instance, Revision, Deployment } from '../../api/items.js';
import type { Route } from './deployment-data.js';

export interface TrafficRow {
  revision: string;
  /** Percent of the route; null if the revision is not in it. */
  desired: number | null;
  /** Percent of the requests of the last minute; null if there were none at all. */
  actual: number | null;
  healthy: number;
  instances: number;
  role: 'active' | 'candidate' | 'previous' | 'other';
  /** The revision that last held all of the traffic: the rollback target of the running operation. */
  isLastGood: boolean;
}

/** One target of a route. */
export type TrafficShare = Pick<Route['targets'][number], 'revision' | 'weight'>;

type DeploymentRevisions = Pick<Deployment, 'active_revision' | 'candidate_revision' | 'previous_revision'>;

/** Returns the shares of all revisions that the route names or that have instances, the active one first. */
export function trafficOf(
  deployment: DeploymentRevisions,
  route: Pick<Route, 'targets'> | null | undefined,
  instances: readonly Pick<Instance, 'revision' | 'state'>[],
  requests: ReadonlyMap<string, number>,
): TrafficRow[] {
  const { active_revision: active, candidate_revision: candidate, previous_revision: previous } = deployment;
  const desired = new Map((route?.targets ?? []).map(({ revision, weight }) => [revision, weight]));
  const names = new Set(
    [active, candidate, ...desired.keys(), ...instances.map(({ revision }) => revision)].filter(
      (name): name is string => Boolean(name),
    ),
  );
  const all = [...requests.values()].reduce((sum, n) => sum + n, 0);
  return [...names].map((revision) => {
    const its = instances.filter((one) => one.revision === revision);
    return {
      revision,
      desired: desired.get(revision) ?? null,
      actual: all > 0 ? (100 * (requests.get(revision) ?? 0)) / all : null,
      healthy: its.filter(({ state }) => state === 'ready').length,
      instances: its.length,
      role:
        revision === active
          ? 'active'
          : revision === candidate
            ? 'candidate'
            : revision === previous
              ? 'previous'
              : 'other',
      isLastGood: revision === active,
    };
  });
}

/** Whether a revision has neither traffic nor a part in the next change: the legend folds it away. */
export const isRetired = ({ role, desired, actual, healthy }: TrafficRow): boolean =>
  (desired ?? 0) === 0 && (actual ?? 0) === 0 && (role === 'other' || (role === 'previous' && healthy === 0));

/** Returns why a rollback to a revision is impossible; null if it can be tried: the api decides finally. */
export function whyNoRollback(
  { name, state, ready_at }: Pick<Revision, 'name' | 'state' | 'ready_at'>,
  active: string | null,
  isOperationLive: boolean,
): string | null {
  if (state === 'failed') return 'It failed.';
  if (name === active && !isOperationLive) return 'It already gets all traffic.';
  if (!ready_at) return 'It was never ready.';
  return null;
}
