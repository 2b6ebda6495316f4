import type { UnknownUnits } from '@slipway/target-driver';
import { LEADER_WORKER_SETS } from '../api/kinds.js';
import type { Pod } from '../api/objects.js';
import type { UnitWatch } from '../instances/unit-watch.js';
import { selectorOf } from '../instances/live-units.js';
import { isStopped, livePods } from '../instances/pod-state.js';
import { kindOf, type Unit } from '../manifests/unit-kind.js';
import { LABEL, MANAGED_BY, type Writer } from '../manifests/unit-labels.js';
import { labelValue } from '../manifests/unit-names.js';

const MOST_GROUPS = 20;
const MOST_NAMES = 5;

interface Group {
  target: string;
  namespace: string;
  units: Unit[];
  pods: Pod[];
}

/**
 * Objects of this installation that belong to no target, by namespace and target name. Those of our own name have
 * labels that lead to no instance. Everything is known from the watch.
 */
export function unknownUnits(
  watch: Pick<UnitWatch, 'others'>,
  own: string,
  targets: ReadonlySet<string>,
  writer: Writer,
): UnknownUnits[] {
  const known = new Set([...targets].map(labelValue));
  known.delete(labelValue(own));
  const groups = new Map<string, Group>();
  for (const object of watch.others()) {
    const { labels = {}, namespace = '' } = object.metadata;
    const target = labels[LABEL.target] ?? '';
    if (known.has(target)) continue;
    const key = `${namespace}/${target}`;
    const group = groups.get(key) ?? { target, namespace, units: [], pods: [] };
    groups.set(key, group);
    if (isPod(object)) group.pods.push(object);
    else group.units.push(object);
  }
  return [...groups]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .slice(0, MOST_GROUPS)
    .map(([, group]) => shown(group, labelValue(own), writer));
}

function shown({ target, namespace, units, pods }: Group, own: string, writer: Writer): UnknownUnits {
  const objects = units.length > 0 ? units : pods;
  const names = objects.map(({ metadata: { name } }) => name).sort();
  const hasGroups = units.some((unit) => kindOf(unit) === LEADER_WORKER_SETS);
  return {
    target,
    location: `namespace ${namespace}`,
    count: objects.length,
    running: units.length > 0 ? units.filter((unit) => !isStopped(unit)).length : livePods(pods).length,
    names: names.slice(0, MOST_NAMES),
    command: target === own ? byName(namespace, units, pods) : byLabel(namespace, target, hasGroups, writer),
  };
}

/** The label of our own name would also select what runs. */
function byName(namespace: string, units: readonly Unit[], pods: readonly Pod[]): string {
  const named = units.length > 0 ? units.map(nameOfUnit) : pods.map(({ metadata: { name } }) => `pod/${name}`);
  return `kubectl -n ${namespace} delete ${named.slice(0, MOST_NAMES).join(' ')}`;
}

const nameOfUnit = (unit: Unit): string => `${kindOf(unit).plural}/${unit.metadata.name}`;

/** Also removes the Services, budgets and Secrets of the units. */
function byLabel(namespace: string, target: string, hasGroups: boolean, { installation }: Writer): string {
  const kinds = ['deployments', ...(hasGroups ? [LEADER_WORKER_SETS.plural] : []), 'pods', 'services'];
  const labels = {
    [LABEL.managedBy]: MANAGED_BY,
    [LABEL.installation]: labelValue(installation),
    [LABEL.target]: target,
  };
  const all = [...kinds, 'poddisruptionbudgets', 'secrets'].join(',');
  return `kubectl -n ${namespace} delete ${all} -l ${selectorOf(labels)}`;
}

const isPod = (object: Unit | Pod): object is Pod => 'containers' in Object(object.spec);
