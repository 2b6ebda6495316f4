import type { InstanceSpec } from '@slipway/target-driver';
import type { ObjectMeta } from '../api/objects.js';
import { LABEL, OURS, labelValue } from './unit-names.js';
import type { KubernetesTargetConfig } from '../target-config.js';

export { LABEL } from './unit-names.js';

export const MANAGED_BY = 'slipway';

/** Contains an instance's id that cannot be a label. */
const INSTANCE_ID = `${OURS}/instance-id`;

/** The installation that writes. Two of them in one namespace never change each other's objects. */
export interface Writer {
  /** The UUID of the installation. */
  installation: string;
}

type Labels = Record<string, string>;

/** Selects the objects of one target of this installation. */
export function targetLabels({ name }: Pick<KubernetesTargetConfig, 'name'>, { installation }: Writer): Labels {
  return {
    [LABEL.managedBy]: MANAGED_BY,
    [LABEL.installation]: labelValue(installation),
    [LABEL.target]: labelValue(name),
  };
}

/** The labels of all objects of a revision. */
export function revisionLabels(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): Labels {
  const { owner, tenantName, instanceId, runtime } = spec;
  const tenant = owner?.tenantId ?? tenantName;
  return {
    ...targetLabels(config, writer),
    [LABEL.name]: labelValue(runtime.engine ?? config.name),
    ...(tenant !== undefined && { [LABEL.tenant]: labelValue(tenant) }),
    ...(owner && { [LABEL.deployment]: labelValue(owner.deploymentId) }),
    [LABEL.revision]: labelValue(owner?.revisionId ?? instanceId),
  };
}

/** The labels of a unit and its pods. */
export function unitLabels(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): Labels {
  return {
    ...revisionLabels(spec, config, writer),
    ...instanceLabels(spec.instanceId),
    [LABEL.ordinal]: String(spec.owner?.ordinal ?? 0),
    [LABEL.generation]: String(spec.generation),
  };
}

/** Selects all objects of an instance, of all generations. */
export function instanceLabels(instanceId: string): Labels {
  return { [LABEL.instance]: labelValue(instanceId) };
}

/** Selects the pods of a revision. */
export function revisionSelector(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): Labels {
  const { [LABEL.installation]: installation, [LABEL.revision]: revision } = revisionLabels(spec, config, writer);
  return { [LABEL.installation]: installation!, [LABEL.revision]: revision! };
}

/** Selects the pods of one unit. */
export function unitSelector({ instanceId, generation }: InstanceSpec, { installation }: Writer): Labels {
  return {
    [LABEL.installation]: labelValue(installation),
    ...instanceLabels(instanceId),
    [LABEL.generation]: String(generation),
  };
}

/** Annotations of a unit that complete its labels; empty if the labels are complete. */
export function unitAnnotations(instanceId: string): Labels {
  return labelValue(instanceId) === instanceId ? {} : { [INSTANCE_ID]: instanceId };
}

/**
 * The instance of a unit or pod. Undefined if the object is not ours, or if its label and annotation contradict each
 * other.
 */
export function instanceIdOf({ labels = {}, annotations = {} }: Partial<ObjectMeta>): string | undefined {
  const label = labels[LABEL.instance];
  const id = annotations[INSTANCE_ID] ?? label;
  return id !== undefined && labelValue(id) === label ? id : undefined;
}
