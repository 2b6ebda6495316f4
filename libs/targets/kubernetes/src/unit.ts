import type { InstanceSpec } from '@slipway/target-driver';
import { apiVersionOf, DEPLOYMENTS, LEADER_WORKER_SETS } from './api/kinds.js';
import type { Deployment, LeaderWorkerSet, ObjectMeta } from './api/objects.js';
import { engineOf, namespaceFor, type KubernetesEngine, type KubernetesTargetConfig } from './target-config.js';
import { unitAnnotations, unitLabels, unitSelector, type Writer } from './unit-labels.js';
import { unitName } from './unit-names.js';
import { podTemplateOf, type PodRole } from './unit-pod.js';

export { isKeyed, secretOf } from './unit-environment.js';

/** The one number that means that a roll-out is never late: whether a start takes too long is ours to say. */
const NEVER_LATE_SECONDS = 2_147_483_647;

/** Whether an instance of the engine is several pods that serve together. */
export function isGroup({ unit }: Pick<KubernetesEngine, 'unit'>): boolean {
  return unit.kind === 'leaderworkerset';
}

/**
 * The unit of a generation, for a spec that `check` accepted: one pod, started again by the cluster for as long as the unit asks for it. To be
 * created, never applied: an apply by a worker that comes late would start again what was stopped.
 * @throws Error for an engine whose instances are groups, or one that was given no key
 */
export function unitOf(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): Deployment {
  if (isGroup(engineOf(config, spec.runtime.engine)))
    throw new Error(`an instance of engine "${spec.runtime.engine}" is a group of pods`);
  return {
    apiVersion: apiVersionOf(DEPLOYMENTS),
    kind: DEPLOYMENTS.kind,
    metadata: metadataOf(spec, config, writer),
    spec: {
      replicas: 1,
      // Two at a time would need twice the accelerators.
      strategy: { type: 'Recreate' },
      // A unit is never changed, so that there is nothing to go back to.
      revisionHistoryLimit: 0,
      progressDeadlineSeconds: NEVER_LATE_SECONDS,
      selector: { matchLabels: unitSelector(spec, writer) },
      template: templateOf(spec, config, writer, 'serves'),
    },
  };
}

/** The same for an engine whose instances are groups: one leader that serves, and pods on other nodes that work for it. */
export function groupOf(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): LeaderWorkerSet {
  const { unit } = engineOf(config, spec.runtime.engine);
  if (unit.kind !== 'leaderworkerset') throw new Error(`an instance of engine "${spec.runtime.engine}" is one pod`);
  return {
    apiVersion: apiVersionOf(LEADER_WORKER_SETS),
    kind: LEADER_WORKER_SETS.kind,
    metadata: metadataOf(spec, config, writer),
    spec: {
      replicas: 1,
      leaderWorkerTemplate: {
        size: unit.size,
        restartPolicy: 'RecreateGroupOnPodRestart',
        leaderTemplate: templateOf(spec, config, writer, 'serves'),
        workerTemplate: templateOf(spec, config, writer, 'works'),
      },
    },
  };
}

function templateOf(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer, role: PodRole) {
  const annotations = unitAnnotations(spec.instanceId);
  return podTemplateOf(spec, config, { labels: unitLabels(spec, config, writer), annotations, role });
}

function metadataOf(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): ObjectMeta {
  const annotations = unitAnnotations(spec.instanceId);
  return {
    name: unitName(spec),
    namespace: namespaceFor(config, spec.tenantName),
    labels: unitLabels(spec, config, writer),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
}
