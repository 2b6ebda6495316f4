import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import path from 'node:path';
import { childEnvironment } from '@slipway/platform-config';
import { readBounded } from './bounded-file.js';
import type { ClusterTls } from './cluster-tls.js';
import { ExecCredentials, FileToken, type Credentials } from './credentials.js';
import { KubeConfigError } from './errors.js';
import { readKubeconfig, type Access } from './kubeconfig.js';

export type { ClusterTls };

/** Where an API server is, as the operator wrote it. `context` is a name in the kubeconfig; its current one by default. */
export type ClusterConfig = 'in-cluster' | { kubeconfig: string; context?: string };

/** An API server and who we are there. */
export interface Cluster {
  /** `https://10.0.0.1:6443`, without a trailing slash; a path prefix stays. */
  readonly server: string;
  /** The namespace of the ServiceAccount or of the context, where one is known. */
  readonly namespace?: string;
  /** Asked for with each new connection: certificates are replaced on disk while we run. */
  readonly tls: ClusterTls;
  /** The `Authorization` header; undefined where a client certificate says who we are. @throws KubeConfigError */
  authorization(): Promise<string | undefined>;
  /** The server said 401: the next `authorization()` reads the token again. */
  forget(): void;
  close(): void;
}

export interface ClusterOptions {
  /** Where a pod finds its ServiceAccount. */
  serviceAccountFolder?: string;
  /** Milliseconds, for the age of what was read. */
  now?(): number;
  environment?: Record<string, string | undefined>;
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** What the kubelet renews reaches us within a minute. */
const TLS_AGE_MS = 60_000;

/**
 * Reads how to reach a cluster and who we are there. Nothing is asked of the cluster, and no plugin is run yet.
 *
 * @throws KubeConfigError naming the file and what to change in it
 */
export function readCluster(config: ClusterConfig, options: ClusterOptions = {}): Cluster {
  const now = options.now ?? Date.now;
  const environment = options.environment ?? childEnvironment();
  const access =
    config === 'in-cluster'
      ? inCluster(options.serviceAccountFolder ?? SERVICE_ACCOUNT, environment)
      : readKubeconfig(config);
  return new KnownCluster(access, credentialsOf(access, now, environment), now);
}

class KnownCluster implements Cluster {
  readonly server: string;
  readonly namespace?: string;
  private made: ClusterTls;
  private readAt: number;

  constructor(
    private readonly access: Access,
    private readonly credentials: Credentials,
    private readonly now: () => number,
  ) {
    this.server = access.server;
    this.namespace = access.namespace;
    this.made = access.readTls();
    this.readAt = now();
  }

  get tls(): ClusterTls {
    if (this.now() - this.readAt >= TLS_AGE_MS) this.readAgain();
    return this.made;
  }

  async authorization(): Promise<string | undefined> {
    return this.credentials.header();
  }

  forget(): void {
    this.credentials.forget();
    this.readAgain();
  }

  close(): void {
    this.credentials.close();
  }

  /** A file that is just being replaced leaves us with what it was. */
  private readAgain(): void {
    this.readAt = this.now();
    try {
      const read = this.access.readTls();
      if (JSON.stringify(read) !== JSON.stringify(this.made)) this.made = read;
    } catch (error) {
      if (!(error instanceof KubeConfigError)) throw error;
    }
  }
}

function credentialsOf(
  { user }: Access,
  now: () => number,
  environment: Record<string, string | undefined>,
): Credentials {
  const { token, tokenFile, exec } = user;
  if (exec) return new ExecCredentials(exec, now, environment);
  if (tokenFile !== undefined) return new FileToken(tokenFile, now);
  const header = token === undefined ? undefined : `Bearer ${token}`;
  return { header: async () => header, forget: () => undefined, close: () => undefined };
}

/** What the kubelet gives each pod. */
function inCluster(folder: string, environment: Record<string, string | undefined>): Access {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  if (!host || !port)
    throw new KubeConfigError(
      'cluster: in-cluster',
      'this process runs in no pod (KUBERNETES_SERVICE_HOST is not set); name a `kubeconfig` instead',
    );
  const tokenFile = path.join(folder, 'token');
  const caFile = path.join(folder, 'ca.crt');
  readBounded(tokenFile, 'the pod has no token; set `automountServiceAccountToken: true` for its ServiceAccount');
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    namespace: namespaceIn(path.join(folder, 'namespace')),
    user: { tokenFile },
    readTls: () => ({ ca: readBounded(caFile, 'the CA of the cluster is missing'), rejectUnauthorized: true }),
  };
}

function namespaceIn(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
