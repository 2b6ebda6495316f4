import { existsSync } from 'node:fs';
import { TargetConfigError } from '@slipway/target-driver';
import { EngineCgroups } from '../host/engine-cgroup.js';
import type { EngineTemplate } from '../templates/engine-template.js';
import { findUser, type EngineUser } from '../host/engine-user.js';

/** Tested once per process. */
let found: EngineCgroups | false | undefined;

/** Undefined if this process may create no control groups. */
export function hostCgroups(): EngineCgroups | undefined {
  found ??= EngineCgroups.find() ?? false;
  return found || undefined;
}

/** @throws TargetConfigError that names each engine whose user this process cannot use */
export function usersOf(
  target: string,
  templates: ReadonlyMap<string, EngineTemplate>,
  home: string,
  cgroups: EngineCgroups | undefined,
): ReadonlyMap<string, EngineUser> {
  const users = new Map<string, EngineUser>();
  const problems: string[] = [];
  for (const { name, config } of templates.values()) {
    const { user } = config;
    if (user === undefined || users.has(user)) continue;
    try {
      // Nothing else identifies its processes reliably, because other users cannot read their environment.
      if (!cgroups)
        throw new Error(
          'the worker cannot create control groups (cgroup v2), which it needs to track the processes of the engine',
        );
      users.set(user, findUser(user, home));
    } catch (error) {
      problems.push(`engine "${name}": user "${user}" cannot be used: ${(error as Error).message}`);
    }
  }
  if (problems.length > 0) throw new TargetConfigError(target, problems);
  return users;
}

/** Says how engines are isolated on this host, and which settings have no effect, for the operator. */
export function isolationNotes(templates: readonly EngineTemplate[], cgroups: EngineCgroups | undefined): string[] {
  const shared = templates.filter(({ config }) => config.user === undefined).map(({ name }) => name);
  const limited = templates.filter(({ config }) => config.limits?.memory_mb !== undefined).map(({ name }) => name);
  const notes = [
    cgroups
      ? 'engine processes are tracked with control groups (cgroup v2)'
      : 'engine processes are tracked with an environment variable: the worker cannot create control groups (cgroup v2)',
  ];
  if (!existsSync('/proc/net/tcp'))
    notes.push('the owner of an engine port is not checked: this host does not show which process listens');
  if (shared.length > 0)
    notes.push(
      `engines without user run as the user of the worker: they can read what the worker can read, including SLIPWAY_HOME (${shared.join(', ')})`,
    );
  if (limited.length > 0 && !cgroups?.limitsMemory)
    notes.push(
      `limits.memory_mb has no effect: the control group of the worker has no memory controller (${limited.join(', ')})`,
    );
  return notes;
}
