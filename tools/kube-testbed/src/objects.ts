/** A value without a type here, because tests read fields of many kinds of objects. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test bed: each reader asserts what it reads
export type FieldValue = any;

/** An object as the API server sends and accepts it; fields that are not declared here are kept. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  [field: string]: FieldValue;
}

export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  finalizers?: string[];
  ownerReferences?: { apiVersion: string; kind: string; name: string; uid: string }[];
}

/** `api` is the group and version: `v1`, `apps/v1`. */
export interface Resource {
  api: string;
  plural: string;
}

const of = (api: string, plural: string): Resource => ({ api, plural });

export const NAMESPACES = of('v1', 'namespaces');
export const NODES = of('v1', 'nodes');
export const PODS = of('v1', 'pods');
export const SECRETS = of('v1', 'secrets');
export const CONFIG_MAPS = of('v1', 'configmaps');
export const EVENTS = of('v1', 'events');
export const RESOURCE_QUOTAS = of('v1', 'resourcequotas');
export const SERVICES = of('v1', 'services');
export const SERVICE_ACCOUNTS = of('v1', 'serviceaccounts');
export const DEPLOYMENTS = of('apps/v1', 'deployments');
export const LEASES = of('coordination.k8s.io/v1', 'leases');
export const DISRUPTION_BUDGETS = of('policy/v1', 'poddisruptionbudgets');
export const ROLES = of('rbac.authorization.k8s.io/v1', 'roles');
export const ROLE_BINDINGS = of('rbac.authorization.k8s.io/v1', 'rolebindings');

export const STATEFUL_SETS = of('apps/v1', 'statefulsets');
export const LEADER_WORKER_SETS = of('leaderworkerset.x-k8s.io/v1', 'leaderworkersets');
export const INFERENCE_POOLS = of('inference.networking.k8s.io/v1', 'inferencepools');
export const CUSTOM_RESOURCES = of('apiextensions.k8s.io/v1', 'customresourcedefinitions');
export const MUTATING_WEBHOOKS = of('admissionregistration.k8s.io/v1', 'mutatingwebhookconfigurations');
export const VALIDATING_WEBHOOKS = of('admissionregistration.k8s.io/v1', 'validatingwebhookconfigurations');

export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: {
    secretKeyRef?: { name: string; key: string; optional?: boolean };
    configMapKeyRef?: { name: string; key: string; optional?: boolean };
    fieldRef?: { fieldPath: string };
  };
}

export interface Probe {
  httpGet?: { path?: string; port: number | string; scheme?: string; httpHeaders?: { name: string; value: string }[] };
  tcpSocket?: { port: number | string };
  initialDelaySeconds?: number;
  periodSeconds?: number;
  timeoutSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
}

export interface ContainerSpec {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: EnvVar[];
  ports?: { name?: string; containerPort: number }[];
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  lifecycle?: { preStop?: { sleep?: { seconds: number } } };
}

export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface Pod extends KubeObject {
  metadata: ObjectMeta & { name: string; namespace: string; uid: string };
  spec: {
    nodeName?: string;
    containers: ContainerSpec[];
    initContainers?: ContainerSpec[];
    restartPolicy?: 'Always' | 'OnFailure' | 'Never';
    terminationGracePeriodSeconds?: number;
    [field: string]: FieldValue;
  };
  status?: {
    phase?: string;
    podIP?: string;
    conditions?: Condition[];
    containerStatuses?: FieldValue[];
    [field: string]: FieldValue;
  };
}
