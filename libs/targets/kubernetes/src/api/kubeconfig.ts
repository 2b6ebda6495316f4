import { X509Certificate } from 'node:crypto';
import path from 'node:path';
import { withoutTrailingSlashes } from '@slipway/contracts';
import { parse } from 'yaml';
import { readBounded } from './bounded-file.js';
import type { ExecPlugin } from './credentials.js';
import { KubeConfigError } from './errors.js';

/** The settings that secure a connection. The same object until one of its files has changed. */
export interface ClusterTls {
  /** PEM. Absent: the certificates that Node trusts. */
  ca?: string;
  /** PEM of a client certificate and its key. */
  cert?: string;
  key?: string;
  /** The name that the server's certificate must have, if it differs from that of the address. */
  servername?: string;
  rejectUnauthorized: boolean;
}

/** The address of one cluster, and our identity there. */
export interface KubeconfigAccess {
  server: string;
  namespace?: string;
  user: { token?: string; tokenFile?: string; exec?: ExecPlugin };
  /**
   * Reads the files with certificates.
   * @throws KubeConfigError if a file cannot be read or is not PEM
   */
  readTls(): ClusterTls;
}

type Mapping = Record<string, unknown>;

/** Fields of a user that name another identity than the one that this client would send. */
const UNKNOWN_USERS: Record<string, string> = {
  'auth-provider': 'is not supported since Kubernetes 1.26; use `exec`',
  username: 'is not supported by API servers since Kubernetes 1.19; use a token',
  as: 'is not supported; give the target a ServiceAccount of its own',
  'as-uid': 'is not supported; give the target a ServiceAccount of its own',
  'as-groups': 'is not supported; give the target a ServiceAccount of its own',
};

/** @throws KubeConfigError with the file and what to change in it */
export function readKubeconfig({
  kubeconfig: file,
  context: wanted,
}: {
  kubeconfig: string;
  context?: string;
}): KubeconfigAccess {
  const config = mappingIn(file);
  const name = wanted ?? textOf(file, config, 'current-context', 'the file');
  if (name === undefined || name === '') throw new KubeConfigError(file, 'has no `current-context`; name a `context`');
  const context = entryOf(file, config, 'contexts', 'context', name);
  const clusterName = textOf(file, context, 'cluster', `context ${name}`) ?? '';
  const userName = textOf(file, context, 'user', `context ${name}`) ?? '';
  const cluster = entryOf(file, config, 'clusters', 'cluster', clusterName);
  const user = userName === '' ? {} : entryOf(file, config, 'users', 'user', userName);
  for (const [field, why] of Object.entries(UNKNOWN_USERS))
    if (user[field] !== undefined) throw new KubeConfigError(file, `user ${userName}: \`${field}\` ${why}`);
  const where = `cluster ${clusterName}`;
  if (cluster['proxy-url'] !== undefined)
    throw new KubeConfigError(file, `${where}: \`proxy-url\` is not supported; give the target a direct route`);
  const tlsName = textOf(file, cluster, 'tls-server-name', where);
  const isInsecure = cluster['insecure-skip-tls-verify'] === true;
  const readTls = (): ClusterTls => {
    const ca = pemOf(file, cluster, 'certificate-authority', where);
    if (ca !== undefined && isInsecure)
      throw new KubeConfigError(
        file,
        `${where}: \`certificate-authority\` and \`insecure-skip-tls-verify\` cannot be set together`,
      );
    const cert = pemOf(file, user, 'client-certificate', `user ${userName}`);
    const key = pemOf(file, user, 'client-key', `user ${userName}`);
    if ((cert === undefined) !== (key === undefined))
      throw new KubeConfigError(
        file,
        `user ${userName}: \`client-certificate\` and \`client-key\` must be set together`,
      );
    assertCertificate(file, ca, `${where}: \`certificate-authority\``);
    assertCertificate(file, cert, `user ${userName}: \`client-certificate\``);
    return {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert, key }),
      ...(tlsName === undefined ? {} : { servername: tlsName }),
      rejectUnauthorized: !isInsecure,
    };
  };
  return {
    server: serverOf(file, textOf(file, cluster, 'server', where), where),
    namespace: textOf(file, context, 'namespace', `context ${name}`) || undefined,
    user: userOf(file, user, `user ${userName}`),
    readTls,
  };
}

function userOf(file: string, user: Mapping, where: string): KubeconfigAccess['user'] {
  const token = textOf(file, user, 'token', where);
  const tokenFile = textOf(file, user, 'tokenFile', where);
  const exec = user.exec === undefined ? undefined : pluginOf(file, user.exec, where);
  // A token file overrides a token, as in kubectl.
  if (tokenFile) return { tokenFile: resolved(file, tokenFile) };
  if (token) {
    assertHeader(file, token, where);
    return { token };
  }
  return exec ? { exec } : {};
}

function pluginOf(file: string, value: unknown, where: string): ExecPlugin {
  const exec = asMapping(file, value, `${where}: \`exec\``);
  const command = textOf(file, exec, 'command', `${where}: \`exec\``);
  const apiVersion = textOf(file, exec, 'apiVersion', `${where}: \`exec\``);
  if (!command) throw new KubeConfigError(file, `${where}: \`exec\` has no \`command\``);
  if (!apiVersion || !/^client\.authentication\.k8s\.io\/v1(beta1)?$/.test(apiVersion))
    throw new KubeConfigError(file, `${where}: \`exec.apiVersion\` must be client.authentication.k8s.io/v1`);
  const args = exec.args ?? [];
  const env = exec.env ?? [];
  if (!Array.isArray(args) || !args.every((one) => typeof one === 'string'))
    throw new KubeConfigError(file, `${where}: \`exec.args\` must be a list of strings`);
  if (!Array.isArray(env) || !env.every((one) => typeof one?.name === 'string' && typeof one?.value === 'string'))
    throw new KubeConfigError(file, `${where}: \`exec.env\` must be a list of {name, value}`);
  if (exec.interactiveMode === 'Always')
    throw new KubeConfigError(
      file,
      `${where}: \`exec\` requires user input (interactiveMode: Always); use a plugin that does not`,
    );
  return {
    file,
    // As in kubectl: a command with a slash is relative to the file, and others are found through PATH.
    command: command.includes('/') ? resolved(file, command) : command,
    args,
    env: Object.fromEntries(env.map(({ name, value }: { name: string; value: string }) => [name, value])),
    apiVersion,
  };
}

/** A connection without TLS carries a credential, so it must not leave the machine. */
function serverOf(file: string, server: string | undefined, where: string): string {
  const url = server === undefined ? undefined : URL.canParse(server) ? new URL(server) : undefined;
  if (!url || !['https:', 'http:'].includes(url.protocol) || url.search || url.hash || url.username)
    throw new KubeConfigError(file, `${where}: \`server\` must be the address of an API server, https://host:6443`);
  if (url.protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname))
    throw new KubeConfigError(file, `${where}: \`server\` must begin with https:// (except for loopback addresses)`);
  return withoutTrailingSlashes(url.href);
}

/**
 * PEM from `<field>-data` in base64, or from the file that `<field>` names. The data overrides the file, as in kubectl.
 */
function pemOf(file: string, from: Mapping, field: string, where: string): string | undefined {
  const data = textOf(file, from, `${field}-data`, where);
  if (data) {
    const pem = Buffer.from(data, 'base64').toString('utf8');
    if (!pem.includes('-----BEGIN '))
      throw new KubeConfigError(file, `${where}: \`${field}-data\` must be PEM in base64 (without line breaks)`);
    return pem;
  }
  const name = textOf(file, from, field, where);
  return name ? readBounded(resolved(file, name), `${where} in ${file} names it as \`${field}\``) : undefined;
}

function assertCertificate(file: string, pem: string | undefined, what: string): void {
  if (pem === undefined) return;
  try {
    new X509Certificate(pem);
  } catch {
    throw new KubeConfigError(file, `${what} does not contain a readable certificate`);
  }
}

function assertHeader(file: string, token: string, where: string): void {
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new KubeConfigError(file, `${where}: \`token\` must be visible ASCII characters without spaces`);
}

function mappingIn(file: string): Mapping {
  const text = readBounded(file, 'name a readable file as `kubeconfig`');
  try {
    return asMapping(file, parse(text), 'the file');
  } catch (error) {
    if (error instanceof KubeConfigError) throw error;
    throw new KubeConfigError(file, `is not valid YAML: ${(error as Error).message.split('\n', 1)[0]}`);
  }
}

function entryOf(file: string, config: Mapping, list: string, field: string, name: string): Mapping {
  const entries = Array.isArray(config[list]) ? (config[list] as Mapping[]) : [];
  const entry = entries.find((one) => one?.name === name);
  if (entry) return asMapping(file, entry[field] ?? {}, `${field} ${name}`);
  const names = entries.map((one) => String(one?.name)).slice(0, 20);
  throw new KubeConfigError(
    file,
    `has no ${field} ${JSON.stringify(name)} (it has: ${names.join(', ') || 'none'}); set \`context\` to one it has`,
  );
}

function asMapping(file: string, value: unknown, what: string): Mapping {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new KubeConfigError(file, `${what} must be a mapping`);
  return value as Mapping;
}

function textOf(file: string, from: Mapping, field: string, where: string): string | undefined {
  const value = from[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new KubeConfigError(file, `${where}: \`${field}\` must be a string`);
  return value;
}

const resolved = (file: string, name: string): string => path.resolve(path.dirname(file), name);
