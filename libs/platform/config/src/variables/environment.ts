import { readFileSync } from 'node:fs';
import type { OperatorConfig } from '../operator-config.js';
import { isPrivateVariable } from './variables.js';

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
 * @throws Error that names the secret, never its value, if the secret is unknown, unset, unreadable or a reference
 */
export function resolveSecret(operator: OperatorConfig, name: string, env: NodeJS.ProcessEnv = process.env): string {
  const source = Object.hasOwn(operator.secrets, name) ? operator.secrets[name] : undefined;
  if (!source) throw new Error(`secret ${name} is not declared in the operator's configuration`);
  if (source.kubernetes) throw new Error(`secret ${name} is stored in Kubernetes, so Slipway cannot read its value`);
  const value = source.env !== undefined ? env[source.env] : readSecretFile(name, source.file ?? '');
  if (!value)
    throw new Error(
      `secret ${name} is empty: ${source.env !== undefined ? `${source.env} is not set` : 'its file has no content'}`,
    );
  return value;
}

function readSecretFile(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new Error(
      `secret ${name} cannot be read from its file (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
    );
  }
}
