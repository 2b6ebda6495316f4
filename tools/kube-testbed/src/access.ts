import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Where a control plane is and who may ask it: plain data, so that one process can hand it to another. */
export interface ClusterAccess {
  server: string;
  /** PEM of the authority that signed the server's certificate. */
  ca: string;
  /** Bearer token of a member of `system:masters`. */
  token: string;
  /** A kubeconfig file with the same. */
  kubeconfig: string;
  /** The server's certificate and key, by which the kubelets of the bed speak TLS too. */
  tls: { cert: string; key: string };
  /** Of the programs that it was started from; `kubectl` is among them. */
  bin: string;
}

const FILE = 'access.json';

/** Leaves it in the control plane's folder. */
export function writeAccess(folder: string, access: ClusterAccess): void {
  writeFileSync(path.join(folder, FILE), JSON.stringify(access), { mode: 0o600 });
}

/** @throws Error where there is no control plane's folder */
export function readAccess(folder: string): ClusterAccess {
  return JSON.parse(readFileSync(path.join(folder, FILE), 'utf8')) as ClusterAccess;
}

/** JSON is YAML, and needs no writer. */
export function kubeconfigOf(
  access: Pick<ClusterAccess, 'server' | 'ca' | 'token'>,
  namespace: string = 'default',
): string {
  const name = 'testbed';
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': name,
      clusters: [
        {
          name,
          cluster: { server: access.server, 'certificate-authority-data': Buffer.from(access.ca).toString('base64') },
        },
      ],
      users: [{ name, user: { token: access.token } }],
      contexts: [{ name, context: { cluster: name, user: name, namespace } }],
    },
    undefined,
    2,
  );
}
