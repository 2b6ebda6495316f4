import { isGroup, type KubernetesEngine } from '../target-config.js';
import type { LabelSelector, PodSpec } from '../api/objects.js';
import { LABEL, WORKER_INDEX } from './unit-names.js';

const NODE = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';
/** A node counts more than a zone: with equal weights, a second node of a zone would be as bad as the same node. */
const NODE_WEIGHT = 100;
const ZONE_WEIGHT = 50;

/**
 * The nodes that the pod of an instance prefers. It is a part of the template's first layer, so the operator's `pod` is
 * merged over it: a list of theirs replaces ours.
 *
 * The default constraints of a scheduler do not spread a revision. They count pods of the same controller, and each
 * instance has a Deployment of its own.
 *
 * `soft` has two parts, and each covers a gap of the other:
 *
 * - Anti-affinity counts pods that are being deleted. If only two nodes are usable, the replacement of a deleted pod would
 *   have no reason to avoid the other instance.
 * - Spreading cannot have a constraint for zones: on nodes without the label of one constraint, the scheduler ignores all
 *   of them, and most clusters outside of clouds have no zones. Then all pods of a revision run on one node.
 *
 * The selector names the revision, so `matchLabelKeys` (Kubernetes 1.27) is not necessary. Affinity and spreading only
 * count pods of the same namespace, as all pods of a revision are.
 *
 * Of a group only the leader gets this. Its workers must be close to it, or at least not be driven away from each other.
 */
export function placementOf(engine: KubernetesEngine, labels: Record<string, string>): Partial<PodSpec> {
  const { spread = 'soft' } = engine;
  if (spread === 'pack') {
    // Not only the same revision: the aim is free nodes, whatever runs on the others.
    const ofTarget = selectorOf(labels, [LABEL.installation, LABEL.target]);
    return { affinity: { podAffinity: preferring([term(NODE, ofTarget, NODE_WEIGHT)]) } };
  }
  const { matchLabels } = selectorOf(labels, [LABEL.installation, LABEL.revision]);
  const ofRevision = { matchLabels: { ...matchLabels, ...(isGroup(engine) && { [WORKER_INDEX]: '0' }) } };
  return {
    affinity: {
      podAntiAffinity: preferring([term(NODE, ofRevision, NODE_WEIGHT), term(ZONE, ofRevision, ZONE_WEIGHT)]),
    },
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: NODE,
        labelSelector: ofRevision,
        // By default a node that may not be used counts as an empty one, so with `hard` nothing could start while a node
        // is lost or drained.
        nodeTaintsPolicy: 'Honor',
        whenUnsatisfiable: spread === 'hard' ? 'DoNotSchedule' : 'ScheduleAnyway',
      },
    ],
  };
}

function selectorOf(labels: Record<string, string>, keys: readonly string[]): LabelSelector {
  return { matchLabels: Object.fromEntries(keys.map((key) => [key, labels[key] ?? ''])) };
}

const preferring = (terms: object[]) => ({ preferredDuringSchedulingIgnoredDuringExecution: terms });

const term = (topologyKey: string, labelSelector: LabelSelector, weight: number) => ({
  weight,
  podAffinityTerm: { topologyKey, labelSelector },
});
