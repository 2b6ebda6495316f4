import { existsSync } from 'node:fs';
import { TargetConfigError } from '@slipway/target-driver';
import { EngineCgroups } from '../host/engine-cgroup.js';
import type { EngineTemplate } from '../templates/engine-template.js';
import { findUser, type EngineUser } from '../host/engine-user.js';

/** Tried out once for the process. */
let found: EngineCgroups | false | undefined;

/** Undefined where this process may make no control groups. */
export function hostCgroups(): EngineCgroups | undefined {
  found ??= EngineCgroups.find() ?? false;
  return found || undefined;
}

/** @throws TargetConfigError naming each engine with a user that this process cannot run it as */
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
      // Nothing else tells its processes for sure: their environment is closed to others.
      if (!cgroups)
        throw new Error('the worker may make no control groups (cgroup v2) to keep track of its processes by');
      users.set(user, findUser(user, home));
    } catch (error) {
      problems.push(`engine "${name}": user "${user}" cannot be used: ${(error as Error).message}`);
    }
  }
  if (problems.length > 0) throw new TargetConfigError(target, problems);
  return users;
}

/** How engines are kept apart on this host, and what of it does not hold, for the operator. */
export function isolationNotes(templates: readonly EngineTemplate[], cgroups: EngineCgroups | undefined): string[] {
  const shared = templates.filter(({ config }) => config.user === undefined).map(({ name }) => name);
  const limited = templates.filter(({ config }) => config.limits?.memory_mb !== undefined).map(({ name }) => name);
  const notes = [
    cgroups
      ? 'processes of engines are kept track of by control groups (cgroup v2)'
      : 'processes of engines are kept track of by a variable in their environment: the worker may make no control groups (cgroup v2)',
  ];
  if (!existsSync('/proc/net/tcp'))
    notes.push('who listens on the port of an engine is not checked: this host does not tell');
  if (shared.length > 0)
    notes.push(
      `engines without user share the worker's: they can read what it can, SLIPWAY_HOME included (${shared.join(', ')})`,
    );
  if (limited.length > 0 && !cgroups?.limitsMemory)
    notes.push(
      `limits.memory_mb holds nobody to it: the worker's control group has no memory controller (${limited.join(', ')})`,
    );
  return notes;
}
