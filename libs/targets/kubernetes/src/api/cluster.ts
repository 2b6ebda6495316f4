/** Where an API server is, as the operator wrote it. `context` is a name in the kubeconfig; its current one by default. */
export type ClusterConfig = 'in-cluster' | { kubeconfig: string; context?: string };

/** What a connection is checked with. Read anew for each connection, so that rotated files are seen. */
export interface ClusterTls {
  /** PEM. Absent: the certificates that Node knows. */
  ca?: string;
  /** PEM of a client certificate and its key. */
  cert?: string;
  key?: string;
  /** The name that the server's certificate must have, where it is not that of the address. */
  servername?: string;
  rejectUnauthorized: boolean;
}

/** An API server and who we are there. */
export interface Cluster {
  /** `https://10.0.0.1:6443`, without a trailing slash; a path prefix stays. */
  readonly server: string;
  /** The namespace of the ServiceAccount or of the context, where one is known. */
  readonly namespace?: string;
  readonly tls: ClusterTls;
  /** The `Authorization` header; undefined where a client certificate says who we are. @throws KubeConfigError */
  authorization(): Promise<string | undefined>;
  /** The server said 401: the next `authorization()` reads the token again. */
  forget(): void;
  close(): void;
}
