import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import path from 'node:path';
import { foreignEnvironment } from '@slipway/platform-config';
import { readBounded } from './bounded-file.js';
import { type ClusterTls, readKubeconfig, type KubeconfigAccess } from './kubeconfig.js';
import { ExecCredentials, FileToken, type ClusterCredentials } from './credentials.js';
import { KubeConfigError } from './errors.js';

export type { ClusterTls };

/**
 * The location of an API server, as the operator wrote it. `context` is a name in the kubeconfig; its current one by
 * default.
 */
export type ClusterConfig = 'in-cluster' | { kubeconfig: string; context?: string };

/** An API server and our identity there. */
export interface KubeCluster {
  /** `https://10.0.0.1:6443`, without a trailing slash; a path prefix stays. */
  readonly server: string;
  /** The namespace of the ServiceAccount or of the context, if known. */
  readonly namespace?: string;
  /** Read for each new connection, because certificates are replaced on disk while the process runs. */
  readonly tls: ClusterTls;
  /**
   * The `Authorization` header. Undefined if a client certificate is our identity.
   * @throws KubeConfigError if the credentials cannot be read
   */
  authorization(): Promise<string | undefined>;
  /** After a 401: the next `authorization()` reads the token again. */
  forget(): void;
  close(): void;
}

export interface ClusterOptions {
  /** The folder with a pod's ServiceAccount. */
  serviceAccountFolder?: string;
  /** Milliseconds, for the age of files that were read. */
  now?(): number;
  environment?: Record<string, string | undefined>;
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Files that the kubelet or an operator renews are in use after a minute at most. */
const READ_AGE_MS = 60_000;

/**
 * Reads the address of a cluster and our credentials there. It sends no request to the cluster and runs no plugin yet.
 * The cluster reads the files again while it is used, so a new certificate, token or kubeconfig needs no restart. A
 * kubeconfig with another server names another cluster, which the result does not follow.
 *
 * @throws KubeConfigError with the file and what to change in it
 */
export function readCluster(config: ClusterConfig, options: ClusterOptions = {}): KubeCluster {
  const now = options.now ?? Date.now;
  const environment = options.environment ?? foreignEnvironment();
  const folder = options.serviceAccountFolder ?? SERVICE_ACCOUNT;
  const read = (): KubeconfigAccess =>
    config === 'in-cluster' ? inCluster(folder, environment) : readKubeconfig(config);
  return new KnownCluster(read, (user) => credentialsOf(user, now, environment), now);
}

class KnownCluster implements KubeCluster {
  readonly server: string;
  readonly namespace?: string;
  private user: KubeconfigAccess['user'];
  private credentials: ClusterCredentials;
  private made: ClusterTls;
  private readAt: number;

  constructor(
    private readonly read: () => KubeconfigAccess,
    private readonly credentialsOf: (user: KubeconfigAccess['user']) => ClusterCredentials,
    private readonly now: () => number,
  ) {
    const { server, namespace, user, readTls } = read();
    this.server = server;
    this.namespace = namespace;
    this.user = user;
    this.credentials = credentialsOf(user);
    this.made = readTls();
    this.readAt = now();
  }

  get tls(): ClusterTls {
    this.readIfOld();
    return this.made;
  }

  async authorization(): Promise<string | undefined> {
    this.readIfOld();
    return this.credentials.header();
  }

  forget(): void {
    this.readAgain();
    this.credentials.forget();
  }

  close(): void {
    this.credentials.close();
  }

  private readIfOld(): void {
    if (this.now() - this.readAt >= READ_AGE_MS) this.readAgain();
  }

  /** While the files are being replaced, the previous contents stay in use. */
  private readAgain(): void {
    this.readAt = this.now();
    try {
      const { server, user, readTls } = this.read();
      const tls = readTls();
      if (server !== this.server) return;
      if (!isSame(tls, this.made)) this.made = tls;
      if (isSame(user, this.user)) return;
      this.credentials.close();
      this.user = user;
      this.credentials = this.credentialsOf(user);
    } catch (error) {
      if (!(error instanceof KubeConfigError)) throw error;
    }
  }
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

function credentialsOf(
  { token, tokenFile, exec }: KubeconfigAccess['user'],
  now: () => number,
  environment: Record<string, string | undefined>,
): ClusterCredentials {
  if (exec) return new ExecCredentials(exec, now, environment);
  if (tokenFile !== undefined) return new FileToken(tokenFile, now);
  const header = token === undefined ? undefined : `Bearer ${token}`;
  return { header: async () => header, forget: () => undefined, close: () => undefined };
}

/** Access from what the kubelet gives each pod. */
function inCluster(folder: string, environment: Record<string, string | undefined>): KubeconfigAccess {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  if (!host || !port)
    throw new KubeConfigError(
      'cluster: in-cluster',
      'this process does not run in a pod (KUBERNETES_SERVICE_HOST is not set); name a `kubeconfig` instead',
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
