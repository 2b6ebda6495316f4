import type { FieldIssue } from '@slipway/platform-http';
import type { RouteAffinity, RouteTarget } from '@slipway/ports/routing';

type RevisionWeight = Pick<RouteTarget, 'revisionId' | 'weight'>;

/** Returns every problem with the weights of a route; empty if they are valid. */
export function weightIssues(targets: readonly RevisionWeight[]): FieldIssue[] {
  const issues: FieldIssue[] = [];
  const seen = new Set<string>();
  for (const [index, { revisionId, weight }] of targets.entries()) {
    if (!Number.isInteger(weight) || weight < 0 || weight > 100) {
      issues.push({
        field: `targets[${index}].weight`,
        code: 'range',
        message: 'a weight must be a whole number from 0 to 100',
      });
    }
    if (seen.has(revisionId))
      issues.push({
        field: `targets[${index}].revision`,
        code: 'duplicate',
        message: 'a revision may occur only once in a route',
      });
    seen.add(revisionId);
  }
  const sum = targets.reduce((total, target) => total + target.weight, 0);
  if (sum !== 100)
    issues.push({ field: 'targets', code: 'sum', message: `the weights must sum to 100, but they sum to ${sum}` });
  return issues;
}

/** Whether two routes have the same effect. The order of the targets does not matter. */
export function isSameRoute(
  one: { targets: readonly RevisionWeight[]; affinity: RouteAffinity },
  other: { targets: readonly RevisionWeight[]; affinity: RouteAffinity },
): boolean {
  if (one.targets.length !== other.targets.length) return false;
  if (one.affinity.mode !== other.affinity.mode || one.affinity.ttlSeconds !== other.affinity.ttlSeconds) return false;
  const weights = new Map(other.targets.map((target) => [target.revisionId, target.weight]));
  return one.targets.every((target) => weights.get(target.revisionId) === target.weight);
}

/** Returns the revisions that join and that leave a route, including those with a weight of 0. */
export function routeMovement(
  before: readonly RevisionWeight[],
  after: readonly RevisionWeight[],
): { joined: string[]; left: string[] } {
  const had = new Set(before.map((target) => target.revisionId));
  const has = new Set(after.map((target) => target.revisionId));
  return { joined: [...has].filter((id) => !had.has(id)), left: [...had].filter((id) => !has.has(id)) };
}
