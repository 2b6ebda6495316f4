import type { AnswerOf, Slipway } from '@slipway/sdk';
import { asSlipwayError } from '../exit-codes.js';
import type { Manifest } from './manifest.js';
import { withoutEmpty, type JsonMembers } from './merge.js';

type Deployment = AnswerOf<'getDeployment'>;
export type DeclaredRevision = AnswerOf<'getRevision'>;

/** The state of the server for one name. */
export interface ServerState {
  deployment?: Deployment;
  active?: DeclaredRevision;
  /** The revision that a rollout has built, or is building. */
  candidate?: DeclaredRevision;
  route?: AnswerOf<'getRoute'>;
  policy?: AnswerOf<'getContinualOptimizationPolicy'>;
  /** The names of the revisions that a file refers to, under each reference that the file uses. */
  named?: ReadonlyMap<string, string>;
}

export async function serverState(
  slipway: Slipway,
  name: string,
  { signal, references = [] }: { signal: AbortSignal; references?: readonly string[] },
): Promise<ServerState> {
  const { deployments } = slipway;
  const deployment = await orNothing('deployment_not_found', deployments.get(name, { signal }));
  if (!deployment) return {};
  const revision = (which: string | null) =>
    which === null ? undefined : orNothing('revision_not_found', deployments.revisions.get(name, which, { signal }));
  const [active, candidate, route, policy, referred] = await Promise.all([
    revision(deployment.active_revision),
    revision(deployment.candidate_revision),
    orNothing('route_not_found', deployments.route.get(name, { signal })),
    orNothing('policy_not_found', deployments.policy.get(name, { signal })),
    Promise.all(references.map((one) => deployments.revisions.get(name, one, { signal }))),
  ]);
  const named = new Map(references.map((one, index) => [one, referred[index]!.name]));
  return { deployment, active, candidate, route, policy, named };
}

async function orNothing<T>(code: string, asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (asSlipwayError(error)?.code === code) return undefined;
    throw error;
  }
}

const SETTINGS = [
  'name',
  'display_name',
  'description',
  'labels',
  'environment',
  'revision_history_limit',
  'protection',
  'scaling',
  'drain_seconds',
  'media_urls',
] as const;
const POLICY_FIELDS = [
  'mode',
  'workload',
  'objective',
  'slos',
  'evidence',
  'experiment_budget',
  'reliability',
  'promotion',
] as const;

const only = (value: object | undefined, names: readonly string[]): JsonMembers =>
  Object.fromEntries(names.map((name) => [name, (value as JsonMembers | undefined)?.[name]]));

export const settingsOf = ({ deployment }: ServerState): JsonMembers =>
  withoutEmpty(only(deployment, SETTINGS)) as JsonMembers;
export const policyOf = ({ policy }: ServerState): JsonMembers | undefined =>
  policy && (withoutEmpty(only(policy, POLICY_FIELDS)) as JsonMembers);

/**
 * A route in which the revision of the spec is `self`, as in a file: only the server knows the number of that revision.
 */
export function routeOf({ route }: ServerState, self: DeclaredRevision | undefined): JsonMembers | undefined {
  if (!route) return undefined;
  const targets = route.targets.map(({ revision, weight }) => ({
    revision: revision === self?.name ? 'self' : revision,
    weight,
  }));
  return { targets: inOrder(targets), affinity: route.affinity };
}

/** Sorts the targets, so that the same route compares equal in any order. */
export const inOrder = <T extends { revision: string }>(targets: readonly T[]): T[] =>
  [...targets].sort((one, other) => (one.revision < other.revision ? -1 : 1));

/**
 * Returns the revisions that count as rolled out. A candidate counts while an operation builds it, or if the strategy
 * only builds candidates. With any other strategy, it has yet to be rolled out.
 */
export function rolledOut({ active, candidate, deployment }: ServerState, strategy: unknown): DeclaredRevision[] {
  const type = (strategy as { type?: string } | null | undefined)?.type ?? 'candidate';
  const counts = type === 'candidate' || deployment?.current_operation_id != null;
  return [active, counts ? candidate : undefined].filter((one) => one !== undefined);
}

/** The state of the server, as a file that produces it. */
export function manifestOf(state: ServerState): Manifest {
  const { deployment } = state;
  const [self] = rolledOut(state, deployment?.default_strategy);
  const sections: JsonMembers = {
    deployment: settingsOf(state),
    spec: self?.spec,
    strategy: deployment?.default_strategy,
    gates: deployment?.default_analysis,
    route: routeOf(state, self),
    policy: policyOf(state),
  };
  const said = Object.entries(sections).filter(([, section]) => section != null);
  return Object.fromEntries(said) as unknown as Manifest;
}
