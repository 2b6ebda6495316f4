import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import path from 'node:path';
import type { OperatorConfig } from '../operator-config.js';
import { isPrivateVariable, VARIABLES } from './variables.js';

/**
 * Returns this process's environment with changes, for a launcher or a tool; `undefined` removes a variable. A child
 * of api, worker or gateway gets `systemEnvironment` or `foreignEnvironment`: it must not inherit keys and logins.
 */
export function childEnvironment(changes: Record<string, string | undefined> = {}): NodeJS.ProcessEnv {
  return { ...process.env, ...changes };
}

/** The environment of a program of the system, such as `id`: it finds other programs, and gets nothing else. */
export function systemEnvironment(): NodeJS.ProcessEnv {
  return { LC_ALL: 'C', PATH: process.env['PATH'] ?? '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
}

/**
 * This process's environment for a program that the operator chose, such as a plugin of a kubeconfig. It has no
 * variables of Slipway, but keeps those that such a program may read too: proxies, NODE_ENV, and those of AWS.
 */
export function foreignEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isPrivateVariable(name)));
}

/** The variables that have values of secrets in the operator's file. */
export function secretNames(operator: OperatorConfig): string[] {
  return Object.values(operator.secrets).flatMap(({ env }) => env ?? []);
}

/**
 * Returns the value of a secret in the operator's file. It is read at each call, so that a rotated file takes effect.
 * @throws Error that names the secret, never its value, if the secret is unknown, unset, unreadable, a reference, or a
 * key or login of Slipway
 */
export function resolveSecret(operator: OperatorConfig, name: string, env: NodeJS.ProcessEnv = process.env): string {
  const source = Object.hasOwn(operator.secrets, name) ? operator.secrets[name] : undefined;
  if (!source) throw new Error(`secret ${name} is not declared in the operator's configuration`);
  if (source.kubernetes) throw new Error(`secret ${name} is stored in Kubernetes, so Slipway cannot read its value`);
  const value = source.env !== undefined ? env[source.env] : readSecretFile(name, source.file ?? '', env);
  if (!value)
    throw new Error(
      `secret ${name} is empty: ${source.env !== undefined ? `${source.env} is not set` : 'its file has no content'}`,
    );
  const own = ownVariableIn(value, env);
  if (own !== undefined) throw new Error(`secret ${name} contains the value of ${own}, which Slipway uses itself`);
  return value;
}

/** Its name may be another one, and a file may contain the environment of a process. */
function ownVariableIn(value: string, env: NodeJS.ProcessEnv): string | undefined {
  return OWN_SECRETS.find((name) => {
    const own = env[name]?.trim() ?? '';
    // SLIPWAY_SECRET_KEYS_OLD is a list.
    const parts = [own, ...own.split(',')].filter((part) => part.length >= SHORTEST_SECRET);
    return parts.some((part) => value.includes(part)) || value === passwordIn(own);
  });
}

const OWN_SECRETS = VARIABLES.filter(({ secret }) => secret).map(({ name }) => name);
/** A shorter text may be a part of another value by chance. */
const SHORTEST_SECRET = 16;

function passwordIn(url: string): string | undefined {
  const password = URL.canParse(url) ? new URL(url).password : '';
  try {
    return password === '' ? undefined : decodeURIComponent(password);
  } catch {
    return password;
  }
}

/** Far larger than any key or certificate. */
const MAX_SECRET_BYTES = 64 * 1024;
/** Files of the embedded stack with keys and logins, below SLIPWAY_HOME. */
const OWN_FILES = /^(?:secret-key|bootstrap-token|run(?:[\\/].*)?)$/;

function readSecretFile(name: string, file: string, env: NodeJS.ProcessEnv): string {
  try {
    const home = path.resolve(env['SLIPWAY_HOME'] || '.slipway');
    // A link, also one of the home, leads to the same file.
    const within = path.relative(realOf(home), realOf(file));
    if (OWN_FILES.test(within) || OWN_FILES.test(path.relative(home, file)))
      throw new Error(`secret ${name} is in ${file}, which Slipway uses itself`);
    return readRegular(name, file).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new Error(
      `secret ${name} cannot be read from its file (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
    );
  }
}

/** Reading from a pipe or a device would hold the process, possibly for ever. */
function readRegular(name: string, file: string): string {
  const opened = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(opened).isFile()) throw new Error(`the file of secret ${name} is not a regular file`);
    const buffer = Buffer.alloc(MAX_SECRET_BYTES + 1);
    const length = readSync(opened, buffer, 0, buffer.length, 0);
    if (length > MAX_SECRET_BYTES)
      throw new Error(`the file of secret ${name} is larger than ${MAX_SECRET_BYTES} bytes`);
    return buffer.toString('utf8', 0, length);
  } finally {
    closeSync(opened);
  }
}

function realOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}
