/** What a connection is checked with. The same object until a file that it came from has changed. */
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
