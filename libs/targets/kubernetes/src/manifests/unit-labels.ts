import type { InstanceSpec } from '@slipway/target-driver';
import type { ObjectMeta } from '../api/objects.js';
import { LABEL, OURS, labelValue } from './unit-names.js';
import type { KubernetesTargetConfig } from '../target-config.js';

export { LABEL } from './unit-names.js';

export const MANAGED_BY = 'slipway';

/** Holds the id of an instance that a label cannot hold as it is. */
const INSTANCE_ID = `${OURS}/instance-id`;

/** Who writes: two of them in one namespace never touch each other's objects. */
export interface Writer {
  /** The UUID of the installation. */
  installation: string;
}

type Labels = Record<string, string>;

/** What selects the objects of one target of this installation. */
export function targetLabels({ name }: Pick<KubernetesTargetConfig, 'name'>, { installation }: Writer): Labels {
  return {
    [LABEL.managedBy]: MANAGED_BY,
    [LABEL.installation]: labelValue(installation),
    [LABEL.target]: labelValue(name),
  };
}

/** What all objects of a revision have. */
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

/** What a unit and its pods have. */
export function unitLabels(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): Labels {
  return {
    ...revisionLabels(spec, config, writer),
    ...instanceLabels(spec.instanceId),
    [LABEL.ordinal]: String(spec.owner?.ordinal ?? 0),
    [LABEL.generation]: String(spec.generation),
  };
}

/** What selects all that an instance has, in whichever generation. */
export function instanceLabels(instanceId: string): Labels {
  return { [LABEL.instance]: labelValue(instanceId) };
}

/** What selects the pods of a revision. */
export function revisionSelector(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): Labels {
  const { [LABEL.installation]: installation, [LABEL.revision]: revision } = revisionLabels(spec, config, writer);
  return { [LABEL.installation]: installation!, [LABEL.revision]: revision! };
}

/** What selects the pods of one unit. */
export function unitSelector({ instanceId, generation }: InstanceSpec, { installation }: Writer): Labels {
  return {
    [LABEL.installation]: labelValue(installation),
    ...instanceLabels(instanceId),
    [LABEL.generation]: String(generation),
  };
}

/** What a unit says beside its labels; empty where they say it all. */
export function unitAnnotations(instanceId: string): Labels {
  return labelValue(instanceId) === instanceId ? {} : { [INSTANCE_ID]: instanceId };
}

/** Whose unit or pod it is; undefined for what is none of ours, or says two things at once. */
export function instanceIdOf({ labels = {}, annotations = {} }: Partial<ObjectMeta>): string | undefined {
  const label = labels[LABEL.instance];
  const id = annotations[INSTANCE_ID] ?? label;
  return id !== undefined && labelValue(id) === label ? id : undefined;
}
