import type { Manifest } from './manifest.js';
import {
  differenceLine,
  differencesBetween,
  isSame,
  merged,
  patchBetween,
  withoutEmpty,
  type Difference,
  type JsonMembers,
} from './merge.js';
import {
  inOrder,
  policyOf,
  rolledOut,
  routeOf,
  settingsOf,
  type DeclaredRevision,
  type ServerState,
} from './server-state.js';

export interface Change {
  kind: 'create' | 'update' | 'policy' | 'rollout' | 'route';
  /** The body of the call. A route uses `self` for the revision of the spec until that revision has a name. */
  body: JsonMembers;
  differences: Difference[];
}

export interface Plan {
  name: string;
  /** In the order of their calls; empty if the server already matches the file. */
  changes: Change[];
  /** The strategy of the deployment after the changes, which a rollout would use. */
  strategy: unknown;
  gates: unknown;
  /** The revision that already has the spec of the file. */
  inPlace?: DeclaredRevision;
  /** The operation that builds that revision now. */
  underWay?: string;
}

/** Plans the calls that make the server match the file. */
export function planOf({ deployment: own, ...sections }: Manifest, state: ServerState): Plan {
  const { deployment } = state;
  const before: JsonMembers = {
    ...settingsOf(state),
    default_strategy: deployment?.default_strategy,
    default_analysis: deployment?.default_analysis,
  };
  const after: JsonMembers = {
    ...(merged(settingsOf(state), own) as JsonMembers),
    default_strategy: strategyAfter(sections.strategy, deployment?.default_strategy),
    default_analysis: sections.gates === null ? null : merged(deployment?.default_analysis, sections.gates),
  };
  const changes: Change[] = [];
  const settings = differencesBetween(named(before), named(after), '').map(withoutDot);
  if (!deployment) changes.push({ kind: 'create', body: withoutEmpty(after) as JsonMembers, differences: settings });
  else if (settings.length > 0)
    changes.push({ kind: 'update', body: patchBetween(before, after), differences: settings });
  changes.push(...policyChanges(sections.policy, state));

  const inPlace = sections.spec && revisionWith(sections.spec, state, after['default_strategy']);
  if (sections.spec && !inPlace) changes.push(rolloutChange(sections.spec, state));
  const self = sections.spec ? inPlace : rolledOut(state, after['default_strategy'])[0];
  if (sections.route) changes.push(...routeChanges(sections.route, state, self));
  const isBuilt = inPlace !== undefined && inPlace.name === deployment?.candidate_revision;
  const underWay = (isBuilt && deployment?.current_operation_id) || undefined;
  const { default_strategy: strategy, default_analysis: gates } = after;
  return { name: own.name, changes, strategy, gates, inPlace, underWay };
}

/** Renames the settings to their names in the file. */
function named({ default_strategy: strategy, default_analysis: gates, ...deployment }: JsonMembers): JsonMembers {
  return { deployment, strategy, gates };
}

const withoutDot = (one: Difference): Difference => ({ ...one, path: one.path.replace(/^\./, '') });

/** A strategy of another type does not inherit the steps. */
function strategyAfter(wanted: Manifest['strategy'], found: { type: string } | null | undefined): unknown {
  if (wanted === null) return null;
  return merged(wanted && wanted.type !== found?.type ? undefined : found, wanted);
}

const revisionWith = (spec: object, state: ServerState, strategy: unknown): DeclaredRevision | undefined =>
  rolledOut(state, strategy).find((one) => isSame(merged(one.spec, spec), one.spec));

function rolloutChange(wanted: object, { active }: ServerState): Change {
  const spec = merged(active?.spec, wanted);
  return {
    kind: 'rollout',
    body: { spec, ...(active && { expected_active_revision: active.name }) },
    differences: differencesBetween(active?.spec, spec, 'spec'),
  };
}

function policyChanges(wanted: Manifest['policy'], state: ServerState): Change[] {
  if (!wanted) return [];
  const found = policyOf(state);
  const body = merged(found, wanted) as JsonMembers;
  // An empty policy is set too, because the file then requests the defaults.
  if (found && isSame(found, body)) return [];
  return [{ kind: 'policy', body, differences: differencesBetween(found, body, 'policy') }];
}

function routeChanges(
  wanted: NonNullable<Manifest['route']>,
  state: ServerState,
  self: DeclaredRevision | undefined,
): Change[] {
  const { revision, targets, affinity } = wanted;
  const found = routeOf(state, self);
  const asked = (targets ?? (revision ? [{ revision, weight: 100 }] : undefined))?.map((one) => {
    const name = state.named?.get(one.revision) ?? one.revision;
    return { ...one, revision: name === self?.name ? 'self' : name };
  });
  const body = merged(found, { ...(asked && { targets: inOrder(asked) }), affinity }) as JsonMembers;
  if (isSame(found, body)) return [];
  return [{ kind: 'route', body, differences: differencesBetween(found, body, 'route') }];
}

const TITLES: Record<Change['kind'], string> = {
  create: 'create the deployment',
  update: 'update the deployment',
  policy: 'set the policy',
  rollout: 'roll out a revision',
  route: 'set the route',
};

/** The planned changes, for people. */
export function planLines({ name, changes, underWay }: Plan): string[] {
  const lines = changes.flatMap(({ kind, differences }) => [
    `${name}: ${TITLES[kind]}`,
    ...differences.map(differenceLine),
  ]);
  return underWay ? [...lines, `${name}: the rollout is already in progress: ${underWay}`] : lines;
}
