import path from 'node:path';

/** Options that differ between control planes of the bed. */
export interface ControlPlaneOptions {
  /** Folder of the compiled programs. */
  bin: string;
  /** False: etcd answers every list and watch, so that a compaction takes effect at once. */
  watchCache?: boolean;
  /** Seconds without a sign of its kubelet after which a node is not ready. */
  nodeGraceSeconds?: number;
  /** Seconds that pods stay on a node that is not ready or not reachable, unless they set a value themselves. */
  unreachableSeconds?: number;
  /** No rate limits for controllers and scheduler, for tests of scale. */
  isUnthrottled?: boolean;
  /** Requests of ServiceAccounts to the API server are recorded in `filesOf(folder).audit`. */
  isAudited?: boolean;
}

/** Ports and paths of a control plane: free ports of loopback, and files in its own folder. */
export interface Layout {
  folder: string;
  etcd: number;
  etcdPeer: number;
  api: number;
}

const HOST = '127.0.0.1';

export const filesOf = (folder: string) => ({
  data: path.join(folder, 'etcd'),
  certificates: path.join(folder, 'certificates'),
  /** The server writes both at its first start, including the authority that signed them. */
  cert: path.join(folder, 'certificates', 'apiserver.crt'),
  key: path.join(folder, 'certificates', 'apiserver.key'),
  signingKey: path.join(folder, 'sa.key'),
  verifyingKey: path.join(folder, 'sa.pub'),
  tokens: path.join(folder, 'tokens.csv'),
  kubeconfig: path.join(folder, 'kubeconfig'),
  scheduler: path.join(folder, 'scheduler.json'),
  auditPolicy: path.join(folder, 'audit-policy.json'),
  audit: path.join(folder, 'audit.log'),
});

export function etcdArgs({ folder, etcd, etcdPeer }: Layout): string[] {
  return [
    `--data-dir=${filesOf(folder).data}`,
    `--listen-client-urls=http://${HOST}:${etcd}`,
    `--advertise-client-urls=http://${HOST}:${etcd}`,
    `--listen-peer-urls=http://${HOST}:${etcdPeer}`,
    `--initial-advertise-peer-urls=http://${HOST}:${etcdPeer}`,
    `--initial-cluster=default=http://${HOST}:${etcdPeer}`,
    // The data is deleted with its folder.
    '--unsafe-no-fsync=true',
    '--log-level=warn',
  ];
}

export function apiServerArgs({ folder, etcd, api }: Layout, options: ControlPlaneOptions): string[] {
  const files = filesOf(folder);
  const stay = options.unreachableSeconds ?? 2;
  return [
    `--etcd-servers=http://${HOST}:${etcd}`,
    `--bind-address=${HOST}`,
    // Without it the server looks for a default route, which a container may not have.
    `--advertise-address=${HOST}`,
    `--secure-port=${api}`,
    `--cert-dir=${files.certificates}`,
    `--token-auth-file=${files.tokens}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.250.0.0/24',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${files.verifyingKey}`,
    `--service-account-signing-key-file=${files.signingKey}`,
    // The server cannot publish an endpoint on loopback.
    '--endpoint-reconciler-type=none',
    '--allow-privileged=true',
    // Namespaces of a bed get only the nodes of that bed, so that beds can share a control plane.
    '--enable-admission-plugins=PodNodeSelector',
    `--default-not-ready-toleration-seconds=${stay}`,
    `--default-unreachable-toleration-seconds=${stay}`,
    `--watch-cache=${options.watchCache ?? true}`,
    ...(options.isUnthrottled ? ['--max-requests-inflight=3000', '--max-mutating-requests-inflight=1000'] : []),
    // One file of any size: it is deleted with its folder.
    ...(options.isAudited
      ? [`--audit-policy-file=${files.auditPolicy}`, `--audit-log-path=${files.audit}`, '--audit-log-maxsize=10000']
      : []),
  ];
}

export function controllerManagerArgs({ folder }: Layout, options: ControlPlaneOptions): string[] {
  const files = filesOf(folder);
  return [
    `--kubeconfig=${files.kubeconfig}`,
    `--service-account-private-key-file=${files.signingKey}`,
    `--root-ca-file=${files.cert}`,
    '--leader-elect=false',
    '--secure-port=0',
    // Slices refuse the loopback addresses of the bed's pods.
    '--controllers=*,-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller',
    `--node-monitor-grace-period=${options.nodeGraceSeconds ?? 8}s`,
    '--node-monitor-period=1s',
    // A bed has few nodes. The loss of one must not count as a network failure, which delays evictions.
    '--node-eviction-rate=100',
    '--secondary-node-eviction-rate=100',
    ...(options.isUnthrottled
      ? [
          '--kube-api-qps=500',
          '--kube-api-burst=1000',
          '--concurrent-deployment-syncs=50',
          '--concurrent-replicaset-syncs=50',
        ]
      : ['--kube-api-qps=200', '--kube-api-burst=400']),
  ];
}

export function schedulerArgs({ folder }: Layout): string[] {
  return [`--config=${filesOf(folder).scheduler}`, '--secure-port=0'];
}

/** The scheduler reads its rate limit only from a file. */
export function schedulerConfig({ folder }: Layout): object {
  return {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    leaderElection: { leaderElect: false },
    clientConnection: { kubeconfig: filesOf(folder).kubeconfig, qps: 500, burst: 1_000 },
  };
}

/**
 * In this cluster, the bed and the controllers are not ServiceAccounts, so the audit log contains only requests of the
 * product.
 */
export function auditPolicy(): object {
  return {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'Metadata', userGroups: ['system:serviceaccounts'] }, { level: 'None' }],
  };
}
