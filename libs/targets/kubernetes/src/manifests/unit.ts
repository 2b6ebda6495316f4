import type { InstanceSpec } from '@slipway/target-driver';
import { apiVersionOf, DEPLOYMENTS, LEADER_WORKER_SETS } from '../api/kinds.js';
import type { Deployment, LeaderWorkerSet, ObjectMeta } from '../api/objects.js';
import { engineOf, namespaceFor, type KubernetesTargetConfig } from '../target-config.js';
import { unitAnnotations, unitLabels, unitSelector, type Writer } from './unit-labels.js';
import type { Unit } from './unit-kind.js';
import { unitName } from './unit-names.js';
import { podTemplateOf, type PodRole } from './unit-pod.js';

export { isKeyed, secretOf } from './unit-environment.js';

/** The only number with which a Deployment is never late, because Slipway decides whether a start takes too long. */
const NEVER_LATE_SECONDS = 2_147_483_647;

/**
 * The unit of a generation, for a spec that `check` accepted: one pod or one group of pods, which the cluster restarts
 * as long as the unit wants it. To be created, never applied: an apply by a late worker would start a stopped unit
 * again.
 * @throws Error if an engine needs a key and got none
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
      // Two pods at a time would need twice the accelerators.
      strategy: { type: 'Recreate' },
      // A unit is never changed, so there is no older state to return to.
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
        // A part of a model that restarts alone does not know the state of the others.
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
