import { apiVersionOf, DEPLOYMENTS, LEADER_WORKER_SETS, type KubeKind } from '../api/kinds.js';
import type { Deployment, LeaderWorkerSet, OwnerReference, Pod, PodTemplate } from '../api/objects.js';
import { WORKER_INDEX } from './unit-names.js';

/** The container that serves. Other containers of a pod belong to the operator. */
export const ENGINE_CONTAINER = 'engine';

/** The object of an instance in the cluster: a Deployment of one pod, or a LeaderWorkerSet of one group of pods. */
export type Unit = Deployment | LeaderWorkerSet;

/** The kind of a unit, recognized by its fields: objects of a list do not name their kind. */
export function kindOf(unit: Unit): KubeKind {
  return groupIn(unit) ? LEADER_WORKER_SETS : DEPLOYMENTS;
}

/** The number of pods that serve together. */
export function sizeOf(unit: Unit): number {
  const group = groupIn(unit);
  return group ? (group.size ?? 1) : 1;
}

/** The template of the pod that serves. */
export function servingTemplateOf(unit: Unit): PodTemplate | undefined {
  const group = groupIn(unit);
  return group ? group.leaderTemplate : (unit as Deployment).spec?.template;
}

/** Makes an object owned by the unit, so that it is deleted with the unit. */
export function ownerReferenceTo(unit: Unit): OwnerReference {
  const kind = kindOf(unit);
  const { name, uid = '' } = unit.metadata;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid };
}

/** Whether the pod belongs to a group and receives no requests itself. */
export function isWorker({ metadata: { labels } }: Pod): boolean {
  return (labels?.[WORKER_INDEX] ?? '0') !== '0';
}

/** Whether the pod is one of several that start and end together. */
export function isOfGroup({ metadata: { labels } }: Pod): boolean {
  return labels?.[WORKER_INDEX] !== undefined;
}

type Group = NonNullable<LeaderWorkerSet['spec']>['leaderWorkerTemplate'];

function groupIn({ spec }: Unit): NonNullable<Group> | undefined {
  return spec?.['leaderWorkerTemplate'] as Group;
}
