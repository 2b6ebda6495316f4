/**
 * The objects that we read and write, with the fields that we use. All other fields of the API server stay unchanged: a
 * field of a newer cluster must not get lost between a template and the API.
 */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  /** Instead of `managedFields`: what others have set. Never sent. */
  foreign?: ForeignField[];
  [field: string]: unknown;
}

/** A field that a client other than Slipway has set, as the API server records it in `managedFields`. */
export interface ForeignField {
  /** From the outside to the inside. An item of a list is `k:{"name":"engine"}` or `v:"value"`, like on the server. */
  path: string[];
  manager: string;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

/** `status` is `True`, `False` or `Unknown`. */
export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  [field: string]: unknown;
}

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: Record<string, unknown>;
}

export interface Container {
  name: string;
  image?: string;
  command?: string[];
  args?: string[];
  env?: EnvVar[];
  ports?: { name?: string; containerPort: number; protocol?: string }[];
  [field: string]: unknown;
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  nodeName?: string;
  terminationGracePeriodSeconds?: number;
  [field: string]: unknown;
}

export interface PodTemplate {
  metadata?: Partial<ObjectMeta>;
  spec: PodSpec;
}

export interface ContainerState {
  waiting?: { reason?: string; message?: string };
  running?: { startedAt?: string };
  terminated?: {
    exitCode: number;
    signal?: number;
    reason?: string;
    message?: string;
    startedAt?: string;
    finishedAt?: string;
  };
}

export interface ContainerStatus {
  name: string;
  ready?: boolean;
  started?: boolean;
  restartCount?: number;
  state?: ContainerState;
  lastState?: ContainerState;
  [field: string]: unknown;
}

export interface PodStatus {
  phase?: string;
  podIP?: string;
  podIPs?: { ip: string }[];
  reason?: string;
  message?: string;
  startTime?: string;
  conditions?: Condition[];
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
  [field: string]: unknown;
}

export interface Pod extends KubeObject {
  spec?: PodSpec;
  status?: PodStatus;
}

export interface Deployment extends KubeObject {
  spec?: {
    replicas?: number;
    selector?: LabelSelector;
    template?: PodTemplate;
    strategy?: { type?: string; [field: string]: unknown };
    revisionHistoryLimit?: number;
    progressDeadlineSeconds?: number;
    [field: string]: unknown;
  };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    readyReplicas?: number;
    conditions?: Condition[];
    [field: string]: unknown;
  };
}

export interface LeaderWorkerSet extends KubeObject {
  spec?: {
    replicas?: number;
    leaderWorkerTemplate?: {
      size?: number;
      leaderTemplate?: PodTemplate;
      workerTemplate?: PodTemplate;
      restartPolicy?: string;
      [field: string]: unknown;
    };
    [field: string]: unknown;
  };
  status?: { replicas?: number; readyReplicas?: number; conditions?: Condition[]; [field: string]: unknown };
}

export interface Service extends KubeObject {
  spec?: {
    type?: string;
    clusterIP?: string;
    selector?: Record<string, string>;
    ports?: { name?: string; port: number; targetPort?: number | string; protocol?: string; nodePort?: number }[];
    publishNotReadyAddresses?: boolean;
    [field: string]: unknown;
  };
}

/** `data` is base64. `stringData` is plain text and is only sent, never received. */
export interface Secret extends KubeObject {
  type?: string;
  immutable?: boolean;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

export interface PodDisruptionBudget extends KubeObject {
  spec?: {
    maxUnavailable?: number | string;
    minAvailable?: number | string;
    selector?: LabelSelector;
    unhealthyPodEvictionPolicy?: string;
  };
  status?: { disruptionsAllowed?: number; currentHealthy?: number; desiredHealthy?: number; [field: string]: unknown };
}

/** Pods for gateways that select one of them through an endpoint picker. */
export interface InferencePool extends KubeObject {
  spec?: {
    selector?: { matchLabels?: Record<string, string> };
    targetPorts?: { number: number }[];
    endpointPickerRef?: {
      /** Name of a Service in the pool's namespace. */
      name: string;
      port?: { number: number };
      failureMode?: string;
      [field: string]: unknown;
    };
    [field: string]: unknown;
  };
}

/** An event about an object, in the words of the component that reports it. */
export interface KubeEvent extends KubeObject {
  type?: string;
  reason?: string;
  message?: string;
  count?: number;
  lastTimestamp?: string;
  eventTime?: string;
  involvedObject?: { kind?: string; name?: string; namespace?: string; uid?: string };
}

/** The API server's description of a refused call. */
export interface Status {
  kind: 'Status';
  status?: string;
  code?: number;
  reason?: string;
  message?: string;
  details?: StatusDetails;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: { reason?: string; message?: string; field?: string }[];
  retryAfterSeconds?: number;
}

export interface KubeList<T extends KubeObject = KubeObject> {
  kind?: string;
  apiVersion?: string;
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  items: T[];
}
