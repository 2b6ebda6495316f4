/** One resource of the API: its path and the kind of its objects. `group` is '' for the core. */
export interface KubeKind {
  group: string;
  version: string;
  /** As in paths and in the rules of a Role. */
  plural: string;
  kind: string;
}

export const DEPLOYMENTS: KubeKind = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment' };
export const PODS: KubeKind = { group: '', version: 'v1', plural: 'pods', kind: 'Pod' };
export const SERVICES: KubeKind = { group: '', version: 'v1', plural: 'services', kind: 'Service' };
export const SECRETS: KubeKind = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret' };
export const EVENTS: KubeKind = { group: '', version: 'v1', plural: 'events', kind: 'Event' };
export const PDBS: KubeKind = {
  group: 'policy',
  version: 'v1',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
};
export const LEADER_WORKER_SETS: KubeKind = {
  group: 'leaderworkerset.x-k8s.io',
  version: 'v1',
  plural: 'leaderworkersets',
  kind: 'LeaderWorkerSet',
};
export const INFERENCE_POOLS: KubeKind = {
  group: 'inference.networking.k8s.io',
  version: 'v1',
  plural: 'inferencepools',
  kind: 'InferencePool',
};
export const SELF_SUBJECT_ACCESS_REVIEWS: KubeKind = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
};
export const SELF_SUBJECT_RULES_REVIEWS: KubeKind = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectrulesreviews',
  kind: 'SelfSubjectRulesReview',
};

/** The `apiVersion` of its objects: `v1`, `apps/v1`. */
export const apiVersionOf = ({ group, version }: KubeKind): string => (group === '' ? version : `${group}/${version}`);

/** DNS names, which the API server requires for names and namespaces. Any other text must not become part of a path. */
const NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
const LONGEST_NAME = 253;

/**
 * The path of a kind's collection, or of one object in it. `namespace` is '' for objects without a namespace.
 *
 * @throws RangeError for a name that no object can have
 */
export function pathOf(kind: KubeKind, namespace: string, name?: string, subresource?: string): string {
  const scope = namespace === '' ? '' : `/namespaces/${checked(namespace)}`;
  const one = name === undefined ? '' : `/${checked(name)}`;
  return `${groupPathOf(kind)}${scope}/${kind.plural}${one}${subresource === undefined ? '' : `/${subresource}`}`;
}

/** The path at which the server lists the kinds of this group. */
export function groupPathOf({ group, version }: KubeKind): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

function checked(name: string): string {
  if (name.length > LONGEST_NAME || !NAME.test(name))
    throw new RangeError(`${JSON.stringify(name.slice(0, LONGEST_NAME))} cannot be the name of a Kubernetes object`);
  return name;
}
