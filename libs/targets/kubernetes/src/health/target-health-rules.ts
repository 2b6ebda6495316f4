/** One right in a namespace, as a Role writes it. */
export interface Rule {
  group: string;
  resource: string;
  subresource?: string;
  verb: string;
}

/** What the operator's file makes us need. */
export interface RuleNeeds {
  /** An engine has a key, or secrets of the operator's go to the cluster: each unit gets a Secret of its own. */
  writesSecrets: boolean;
  /** An instance of an engine is a group of pods. */
  usesGroups: boolean;
  /** Each revision has an InferencePool. */
  usesInferencePools: boolean;
}

/** Every right that the driver uses in each namespace of models, and no other. Roles are made of this list. */
export function neededRules({ writesSecrets, usesGroups, usesInferencePools }: RuleNeeds): Rule[] {
  return [
    ...rulesOf('apps', 'deployments', ['list', 'watch', 'create', 'patch', 'delete']),
    ...rulesOf('', 'pods', ['list', 'watch']),
    { group: '', resource: 'pods', subresource: 'log', verb: 'get' },
    ...rulesOf('', 'services', ['list', 'watch', 'create', 'patch', 'delete']),
    ...rulesOf('policy', 'poddisruptionbudgets', ['list', 'watch', 'create', 'patch', 'delete']),
    // Groups that lost a node, or of which one pod began alone, do not mend themselves; why their pods are refused stands in events only.
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

/** `create deployments.apps`, `get pods/log`. */
export function ruleText({ group, resource, subresource, verb }: Rule): string {
  const name = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${verb} ${name}${group === '' ? '' : `.${group}`}`;
}

function rulesOf(group: string, resource: string, verbs: readonly string[]): Rule[] {
  return verbs.map((verb) => ({ group, resource, verb }));
}
