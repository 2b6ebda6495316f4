import type { InstanceSpec } from '@slipway/target-driver';
import { apiVersionOf, PDBS, SERVICES } from './api/kinds.js';
import type { ObjectMeta, PodDisruptionBudget, Service } from './api/objects.js';
import { WORKER_INDEX } from './label-keys.js';
import { engineOf, isGroup, namespaceFor, type KubernetesTargetConfig } from './target-config.js';
import {
  revisionLabels,
  revisionSelector,
  unitAnnotations,
  unitLabels,
  unitSelector,
  type Writer,
} from './unit-labels.js';
import { revisionObjectName, unitName, unitServiceName } from './unit-names.js';
import { PORT_NAME } from './unit-probes.js';

/** The Service of a revision: headless, for who follows its EndpointSlices. Our gateways do not need it. To be applied. */
export function serviceOf(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): Service {
  const selector = { ...revisionSelector(spec, config, writer), ...leaderOf(spec, config) };
  return {
    apiVersion: apiVersionOf(SERVICES),
    kind: SERVICES.kind,
    metadata: metadataOf(spec, config, writer),
    spec: { clusterIP: 'None', selector, ports: portsOf(spec, config), publishNotReadyAddresses: false },
  };
}

/** The Service of one unit, where engines are reached by one of their own; undefined for any other reach. To be applied. */
export function unitServiceOf(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): Service | undefined {
  if (config.reach !== 'service') return undefined;
  const annotations = unitAnnotations(spec.instanceId);
  return {
    apiVersion: apiVersionOf(SERVICES),
    kind: SERVICES.kind,
    metadata: {
      name: unitServiceName(unitName(spec), isGroup(engineOf(config, spec.runtime.engine))),
      namespace: namespaceFor(config, spec.tenantName),
      labels: unitLabels(spec, config, writer),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    spec: {
      type: 'ClusterIP',
      selector: { ...unitSelector(spec, writer), ...leaderOf(spec, config) },
      ports: portsOf(spec, config),
    },
  };
}

/**
 * How many pods of a revision may be taken away at a time by who drains a node. It counts those that may be missing, so that a revision of one
 * has it too and lets its pod go: how many there are to be changes later. A pod that is not healthy holds nobody up. To be applied.
 */
export function pdbOf(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): PodDisruptionBudget {
  const { unit } = engineOf(config, spec.runtime.engine);
  return {
    apiVersion: apiVersionOf(PDBS),
    kind: PDBS.kind,
    metadata: metadataOf(spec, config, writer),
    spec: {
      // Of a group all or none serve.
      maxUnavailable: unit.kind === 'leaderworkerset' ? unit.size : 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: revisionSelector(spec, config, writer) },
    },
  };
}

/** Of a group one pod serves. */
function leaderOf({ runtime }: InstanceSpec, config: KubernetesTargetConfig): Record<string, string> {
  return isGroup(engineOf(config, runtime.engine)) ? { [WORKER_INDEX]: '0' } : {};
}

function metadataOf(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): ObjectMeta {
  return {
    name: revisionObjectName(spec),
    namespace: namespaceFor(config, spec.tenantName),
    labels: revisionLabels(spec, config, writer),
  };
}

function portsOf({ runtime }: InstanceSpec, config: KubernetesTargetConfig): NonNullable<Service['spec']>['ports'] {
  const { port } = engineOf(config, runtime.engine);
  return [{ name: PORT_NAME, port, targetPort: PORT_NAME, protocol: 'TCP' }];
}
