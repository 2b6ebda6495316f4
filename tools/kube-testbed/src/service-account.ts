import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import { kubeconfigOf, type ClusterAccess } from './access.js';
import { KubeClient, KubeError } from './client.js';
import { ROLE_BINDINGS, ROLES, SERVICE_ACCOUNTS, type KubeObject } from './objects.js';

export interface PolicyRule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

const CHART_RULES = new URL('../../../deploy/helm/slipway/rbac-rules.yaml', import.meta.url);

/**
 * The rights that the chart gives a worker in a namespace of models; the options are values of the chart with the same
 * names.
 */
export function workerRules({
  writesSecrets = true,
  usesGroups = false,
  usesInferencePools = false,
} = {}): PolicyRule[] {
  const values: Record<string, boolean> = { always: true, writesSecrets, usesGroups, usesInferencePools };
  const { worker } = parse(readFileSync(CHART_RULES, 'utf8')) as { worker: (PolicyRule & { when: string })[] };
  return worker
    .filter(({ when }) => values[when])
    .map(({ apiGroups, resources, verbs }) => ({ apiGroups, resources, verbs }));
}

/** A ServiceAccount with its token, as a pod of the product gets it. */
export interface GrantedAccess {
  name: string;
  token: string;
  kubeconfig: string;
  /** Replaces the rules; they apply when the promise resolves. */
  allow(rules: readonly PolicyRule[]): Promise<void>;
  /** Writes a new token into the kubeconfig, as a kubelet does before the old one expires. */
  renew(): Promise<void>;
}

const TOKEN_SECONDS = 3_600;

/** Creates a ServiceAccount with these rules in each of the namespaces. The account is in the first one. */
export async function grant(
  client: KubeClient,
  access: ClusterAccess,
  options: { name: string; namespaces: readonly [string, ...string[]]; rules: readonly PolicyRule[]; file: string },
): Promise<GrantedAccess> {
  const { name, namespaces, rules, file } = options;
  const [home] = namespaces;
  await client.create(SERVICE_ACCOUNTS, { metadata: { name, namespace: home } });
  for (const namespace of namespaces) {
    await client.create(ROLES, { metadata: { name, namespace }, rules });
    await client.create(ROLE_BINDINGS, {
      metadata: { name, namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: home }],
    });
  }
  const write = async (): Promise<string> => {
    const token = await tokenOf(client, home, name);
    writeFileSync(file, kubeconfigOf({ ...access, token }, home), { mode: 0o600 });
    return token;
  };
  const token = await write();
  return {
    name,
    token,
    kubeconfig: file,
    allow: async (changed) => {
      for (const namespace of namespaces) await client.merge(ROLES, { namespace, name }, { rules: changed });
    },
    renew: async () => void (await write()),
  };
}

/** Uses the TokenRequest API, as a kubelet does for a pod. */
async function tokenOf(client: KubeClient, namespace: string, name: string): Promise<string> {
  const body: KubeObject = {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: {},
    spec: { expirationSeconds: TOKEN_SECONDS },
  };
  const made = await client.post(SERVICE_ACCOUNTS, { namespace, name, sub: 'token' }, body);
  const token: unknown = made['status']?.token;
  if (typeof token !== 'string') throw new KubeError(200, '', 'the TokenRequest holds no token');
  return token;
}
