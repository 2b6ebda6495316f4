import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Address and credentials of a control plane, as plain data, so that one process can pass it to another. */
export interface ClusterAccess {
  server: string;
  /** PEM of the authority that signed the certificate of the server. */
  ca: string;
  /** Bearer token of a member of `system:masters`. */
  token: string;
  /** Path of a kubeconfig file with the same access. */
  kubeconfig: string;
  /** Certificate and key of the server; the kubelets of the bed use them for TLS too. */
  tls: { cert: string; key: string };
  /** Folder of the programs that started it; `kubectl` is among them. */
  bin: string;
}

const FILE = 'access.json';

/** Stores it in the folder of the control plane. */
export function writeAccess(folder: string, access: ClusterAccess): void {
  writeFileSync(path.join(folder, FILE), JSON.stringify(access), { mode: 0o600 });
}

/** @throws Error if the folder is not that of a control plane */
export function readAccess(folder: string): ClusterAccess {
  return JSON.parse(readFileSync(path.join(folder, FILE), 'utf8')) as ClusterAccess;
}

/** JSON is valid YAML, so no YAML writer is needed. */
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
