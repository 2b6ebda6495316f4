import { fillPlaceholders, type InstanceSpec } from '@slipway/target-driver';
import { apiVersionOf, INFERENCE_POOLS, PDBS, SERVICES } from '../api/kinds.js';
import type { InferencePool, ObjectMeta, PodDisruptionBudget, Service } from '../api/objects.js';
import { WORKER_INDEX, revisionObjectName, unitName, unitServiceName } from './unit-names.js';
import { engineOf, isGroup, namespaceFor, type KubernetesTargetConfig } from '../target-config.js';
import {
  revisionLabels,
  revisionSelector,
  unitAnnotations,
  unitLabels,
  unitSelector,
  type Writer,
} from './unit-labels.js';
import { PORT_NAME } from './unit-probes.js';

/**
 * The Service of a revision: headless, for clients that follow its EndpointSlices. Our gateways do not need it. To be
 * applied.
 */
export function serviceOf(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): Service {
  return {
    apiVersion: apiVersionOf(SERVICES),
    kind: SERVICES.kind,
    metadata: metadataOf(spec, config, writer),
    spec: { clusterIP: 'None', selector: servingSelector(spec, config, writer), ports: portsOf(spec, config) },
  };
}

/** The Service of one unit for `reach: service`; undefined for any other reach. To be applied. */
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
 * Limits how many pods of a revision a drain of nodes may remove at a time. It counts the pods that may be missing,
 * because the number of instances changes later. So a revision of one instance has a budget too, which lets its pod
 * move. An unhealthy pod delays no drain. To be applied.
 */
export function pdbOf(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): PodDisruptionBudget {
  const { unit } = engineOf(config, spec.runtime.engine);
  return {
    apiVersion: apiVersionOf(PDBS),
    kind: PDBS.kind,
    metadata: metadataOf(spec, config, writer),
    spec: {
      // The pods of a group serve only together.
      maxUnavailable: unit.kind === 'leaderworkerset' ? unit.size : 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: revisionSelector(spec, config, writer) },
    },
  };
}

/** The InferencePool of a revision, if the operator wants one. To be applied. */
export function poolOf(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): InferencePool | undefined {
  if (!config.inference_pool) return undefined;
  const { name, port, failure_mode: failureMode } = config.inference_pool.endpoint_picker;
  const metadata = metadataOf(spec, config, writer);
  return {
    apiVersion: apiVersionOf(INFERENCE_POOLS),
    kind: INFERENCE_POOLS.kind,
    metadata,
    spec: {
      selector: { matchLabels: servingSelector(spec, config, writer) },
      targetPorts: [{ number: engineOf(config, spec.runtime.engine).port }],
      endpointPickerRef: { name: pickerName(name, metadata.name), port: { number: port }, failureMode },
    },
  };
}

/** An endpoint picker serves one pool. With `{pool}` in the name, each revision has a picker of its own. */
export function pickerName(name: string, pool: string): string {
  return fillPlaceholders(name, new Map([['pool', pool]])) ?? name;
}

/** Selects the serving pods of a revision. */
function servingSelector(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): Record<string, string> {
  return { ...revisionSelector(spec, config, writer), ...leaderOf(spec, config) };
}

/** In a group only one pod serves. */
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
