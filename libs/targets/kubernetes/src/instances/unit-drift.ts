import { createHash } from 'node:crypto';
import { fieldText } from '../api/field-owners.js';
import type { ForeignField, ObjectMeta, Pod } from '../api/objects.js';
import { kindOf, type Unit } from '../manifests/unit-kind.js';
import { isLeaving, isOver, shownWords } from './pod-ends.js';
import { isStopped } from './pod-state.js';

/** The hash of the spec of a unit as it was created. It is written when the first change of the spec is seen. */
export const CREATED_SPEC = 'slipway.dev/created-spec';

/** More fields than these say nothing more. */
const MOST_SHOWN = 5;
/** Fields that a client can change of a running pod. Tools of a cluster annotate pods all the time. */
const OF_POD = /^(spec\.(containers|initContainers|ephemeralContainers|activeDeadlineSeconds)|metadata\.finalizers)\b/;

/** The objects of an instance that others may have changed. */
export interface OwnObjects {
  unit: Unit;
  pods: readonly Pod[];
  /** Pods of the unit that lack its labels. */
  strays?: readonly Pod[];
}

/** Describes what others have changed of the objects of an instance; undefined if all are as they were created. */
export function driftOf({ unit, pods, strays = [] }: OwnObjects, createdSpec?: string): string | undefined {
  const changes = [
    ...unitChange(unit, createdSpec),
    ...pods.filter((pod) => !isOver(pod) && !isLeaving(pod)).flatMap(podChange),
    ...strays.map(strayWords),
  ];
  return changes.length === 0 ? undefined : shownWords(changes.join('; '));
}

/** Whether the unit would create other pods than it was made for. No other change is a reason to replace it. */
export function isSpecChanged(unit: Unit, createdSpec?: string): boolean {
  if (isStopped(unit) || (unit.metadata.generation ?? 1) <= 1) return false;
  return (unit.metadata.annotations?.[CREATED_SPEC] ?? createdSpec) !== specHash(unit);
}

/** Distinguishes specs, as the server returns them with its defaults. */
export function specHash({ spec }: Unit): string {
  const sorted = JSON.stringify(spec ?? {}, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
  return createHash('sha256').update(sorted).digest('hex').slice(0, 32);
}

/** The command that removes a pod that nothing selects any more. */
export function removalOf({ metadata: { name, namespace = '' } }: Pod): string {
  return `kubectl -n ${namespace} delete pod ${name}`;
}

function unitChange(unit: Unit, createdSpec: string | undefined): string[] {
  const foreign = unit.metadata.foreign ?? [];
  const isSpec = isSpecChanged(unit, createdSpec);
  const fields = foreign.filter(({ path: [part] }) => part === 'metadata' || isSpec);
  if (isStopped(unit) || (!isSpec && fields.length === 0)) return [];
  const { replicas = 1 } = unit.spec ?? {};
  const words = `${kindOf(unit).kind.toLowerCase()} ${unit.metadata.name} was changed outside Slipway`;
  return [`${words}${replicas > 1 ? `: it has ${replicas} replicas` : ''}${fieldWords(fields)}`];
}

function podChange({ metadata, spec }: Pod): string[] {
  const { name, foreign = [] }: ObjectMeta = metadata;
  const fields = foreign.filter((field) => OF_POD.test(fieldText(field)));
  if (fields.length > 0) return [`pod ${name} was changed outside Slipway${fieldWords(fields)}`];
  const added = spec?.['ephemeralContainers'];
  return Array.isArray(added) && added.length > 0 ? [`pod ${name} has an ephemeral container`] : [];
}

function strayWords(pod: Pod): string {
  const { name } = pod.metadata;
  return `pod ${name} lost the labels of its unit, so it gets no requests and keeps its devices. Delete it with: ${removalOf(pod)}`;
}

function fieldWords(fields: readonly ForeignField[]): string {
  const byText = new Map(fields.map((field) => [fieldText(field), field.manager]));
  const shown = [...byText].sort(([one], [other]) => (one < other ? -1 : 1)).slice(0, MOST_SHOWN);
  const more = byText.size - shown.length;
  if (shown.length === 0) return '';
  return ` (${shown.map(([text, manager]) => `${text} by ${manager}`).join(', ')}${more > 0 ? `, and ${more} more` : ''})`;
}
