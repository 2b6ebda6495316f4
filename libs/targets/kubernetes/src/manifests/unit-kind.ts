import { apiVersionOf, DEPLOYMENTS, LEADER_WORKER_SETS, type KubeKind } from '../api/kinds.js';
import type { Deployment, LeaderWorkerSet, OwnerReference, Pod, PodTemplate } from '../api/objects.js';
import { WORKER_INDEX } from './unit-names.js';

/** The container that serves; others of a pod are the operator's business. */
export const ENGINE_CONTAINER = 'engine';

/** What an instance is in the cluster: a Deployment of one pod, or a LeaderWorkerSet of one group of pods. */
export type Unit = Deployment | LeaderWorkerSet;

/** The kind of a unit. Told by what it has: objects of a list do not say it. */
export function kindOf(unit: Unit): KubeKind {
  return groupIn(unit) ? LEADER_WORKER_SETS : DEPLOYMENTS;
}

/** How many pods it takes to serve. */
export function sizeOf(unit: Unit): number {
  const group = groupIn(unit);
  return group ? (group.size ?? 1) : 1;
}

/** Of the pod that serves. */
export function servingTemplateOf(unit: Unit): PodTemplate | undefined {
  const group = groupIn(unit);
  return group ? group.leaderTemplate : (unit as Deployment).spec?.template;
}

/** What is owned goes with the unit. */
export function ownerReferenceTo(unit: Unit): OwnerReference {
  const kind = kindOf(unit);
  const { name, uid = '' } = unit.metadata;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid };
}

/** A pod of a group that serves nobody itself. */
export function isWorker({ metadata: { labels } }: Pod): boolean {
  return (labels?.[WORKER_INDEX] ?? '0') !== '0';
}

/** Whether it is one of several pods that begin and end together. */
export function isOfGroup({ metadata: { labels } }: Pod): boolean {
  return labels?.[WORKER_INDEX] !== undefined;
}

type Group = NonNullable<LeaderWorkerSet['spec']>['leaderWorkerTemplate'];

function groupIn({ spec }: Unit): NonNullable<Group> | undefined {
  return spec?.['leaderWorkerTemplate'] as Group;
}
