import type { InstanceSpec } from '@slipway/target-driver';
import { apiVersionOf, DEPLOYMENTS, LEADER_WORKER_SETS } from '../api/kinds.js';
import type { Deployment, LeaderWorkerSet, ObjectMeta } from '../api/objects.js';
import { engineOf, namespaceFor, type KubernetesTargetConfig } from '../target-config.js';
import { unitAnnotations, unitLabels, unitSelector, type Writer } from './unit-labels.js';
import type { Unit } from './unit-kind.js';
import { unitName } from './unit-names.js';
import { podTemplateOf, type PodRole } from './unit-pod.js';

export { isKeyed, secretOf } from './unit-environment.js';

/** The one number that means that a roll-out is never late: whether a start takes too long is ours to say. */
const NEVER_LATE_SECONDS = 2_147_483_647;

/**
 * The unit of a generation, for a spec that `check` accepted: one pod or one group of pods, started again by the cluster for as long as the unit
 * asks for it. To be created, never applied: an apply by a worker that comes late would start again what was stopped.
 * @throws Error for an engine that was given no key
 */
export function unitOf(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): Unit {
  const { unit } = engineOf(config, spec.runtime.engine);
  return unit.kind === 'leaderworkerset'
    ? groupOf(spec, config, writer, unit.size)
    : deploymentOf(spec, config, writer);
}

function deploymentOf(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): Deployment {
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

/** One leader that serves, and pods on other nodes that work for it. */
function groupOf(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer, size: number): LeaderWorkerSet {
  return {
    apiVersion: apiVersionOf(LEADER_WORKER_SETS),
    kind: LEADER_WORKER_SETS.kind,
    metadata: metadataOf(spec, config, writer),
    spec: {
      replicas: 1,
      leaderWorkerTemplate: {
        size,
        // A part of a model that begins anew knows nothing of the others' state.
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
