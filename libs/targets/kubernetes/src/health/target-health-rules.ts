import type { GrantedRule } from '../api/requests.js';

/** One right in a namespace, as in a Role. */
export interface Rule {
  group: string;
  resource: string;
  subresource?: string;
  verb: string;
}

/** The properties of the operator's file that decide which rights are necessary. */
export interface RuleNeeds {
  /**
   * An engine has a key, or the operator's secrets are written to the cluster, so each unit gets a Secret of its own.
   */
  writesSecrets: boolean;
  /** An instance of an engine is a group of pods. */
  usesGroups: boolean;
  /** Each revision has an InferencePool. */
  usesInferencePools: boolean;
}

/** Every right that the driver uses in each namespace of models, and no other. Roles are made from this list. */
export function neededRules({ writesSecrets, usesGroups, usesInferencePools }: RuleNeeds): Rule[] {
  return [
    ...rulesOf('apps', 'deployments', ['list', 'watch', 'create', 'patch', 'delete']),
    ...rulesOf('', 'pods', ['list', 'watch']),
    { group: '', resource: 'pods', subresource: 'log', verb: 'get' },
    ...rulesOf('', 'services', ['list', 'watch', 'create', 'patch', 'delete']),
    ...rulesOf('policy', 'poddisruptionbudgets', ['list', 'watch', 'create', 'patch', 'delete']),
    // Groups that lost a node, or of which one pod restarted alone, do not repair themselves. Only events contain the
    // reason why their pods are refused.
    ...(usesGroups
      ? [
          ...rulesOf('leaderworkerset.x-k8s.io', 'leaderworkersets', ['list', 'watch', 'create', 'patch', 'delete']),
          ...rulesOf('', 'pods', ['delete']),
          ...rulesOf('', 'events', ['list', 'watch']),
        ]
      : []),
    ...(usesInferencePools
      ? rulesOf('inference.networking.k8s.io', 'inferencepools', ['list', 'watch', 'create', 'patch', 'delete'])
      : []),
    ...(writesSecrets ? rulesOf('', 'secrets', ['create']) : []),
  ];
}

/** Whether a rule of the account includes the right, for objects of every name. */
export function isGranted({ group, resource, subresource, verb }: Rule, granted: GrantedRule): boolean {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [] } = granted;
  const names = subresource === undefined ? [resource] : [`${resource}/${subresource}`, `*/${subresource}`];
  const has = (list: readonly string[], ...wanted: string[]) => ['*', ...wanted].some((one) => list.includes(one));
  return resourceNames.length === 0 && has(verbs, verb) && has(apiGroups, group) && has(resources, ...names);
}

/** `create deployments.apps`, `get pods/log`. */
export function ruleText({ group, resource, subresource, verb }: Rule): string {
  const name = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${verb} ${name}${group === '' ? '' : `.${group}`}`;
}

function rulesOf(group: string, resource: string, verbs: readonly string[]): Rule[] {
  return verbs.map((verb) => ({ group, resource, verb }));
}
