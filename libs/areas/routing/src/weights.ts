import type { FieldIssue } from '@slipway/platform-http';
import type { RouteAffinity, RouteTarget } from '@slipway/ports/routing';

type RevisionWeight = Pick<RouteTarget, 'revisionId' | 'weight'>;

/** Every reason why these are no weights of a route; empty means that they are. */
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

/** Whether two routes mean the same; the order of the targets does not matter. */
export function isSameRoute(
  one: { targets: readonly RevisionWeight[]; affinity: RouteAffinity },
  other: { targets: readonly RevisionWeight[]; affinity: RouteAffinity },
): boolean {
  if (one.targets.length !== other.targets.length) return false;
  if (one.affinity.mode !== other.affinity.mode || one.affinity.ttlSeconds !== other.affinity.ttlSeconds) return false;
  const weights = new Map(other.targets.map((target) => [target.revisionId, target.weight]));
  return one.targets.every((target) => weights.get(target.revisionId) === target.weight);
}

/** Revisions that come into a route and those that leave it, weights of 0 included. */
export function routeMovement(
  before: readonly RevisionWeight[],
  after: readonly RevisionWeight[],
): { joined: string[]; left: string[] } {
  const had = new Set(before.map((target) => target.revisionId));
  const has = new Set(after.map((target) => target.revisionId));
  return { joined: [...has].filter((id) => !had.has(id)), left: [...had].filter((id) => !has.has(id)) };
}
