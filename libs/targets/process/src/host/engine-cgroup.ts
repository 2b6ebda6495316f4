import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { systemEnvironment } from '@slipway/platform-config/environment';

/**
 * A worker in a group of this name, as `DelegateSubgroup=worker` of systemd makes it, creates the groups of its engines
 * next to its own group.
 */
const WORKER_GROUP = 'worker';
const PREFIX = 'slipway-';
/** The time from creating a group to the first process in it. */
const ENTERED_WITHIN_MS = 60_000;

/**
 * Control groups (v2): one for each generation, named in its intent. Membership is inherited, and no process can leave
 * its group without the right to write there. `cgroup.kill` ends all processes at once, including those of another user
 * and those that have made groups of their own.
 */
export class EngineCgroups {
  private constructor(
    private readonly parent: string,
    /** Whether the kernel enforces a memory limit on a group. */
    readonly limitsMemory: boolean,
  ) {}

  /**
   * Finds the worker's own position in the tree and tests it once; undefined if the worker may create no groups there.
   */
  static find(procFolder = '/proc'): EngineCgroups | undefined {
    const own = ownGroup(procFolder);
    if (own === undefined) return undefined;
    const parents = basename(own) === WORKER_GROUP ? [dirname(own), own] : [own];
    for (const parent of parents) {
      allowMemory(parent);
      const trial = tryOut(join(parent, `${PREFIX}trial-${process.pid}`));
      if (!trial) continue;
      removeForgotten(parent);
      return new EngineCgroups(parent, trial.limitsMemory);
    }
    return undefined;
  }

  /** Returns the path of a generation's group, which need not exist. */
  pathOf(instanceFolder: string, generation: number): string {
    const digest = createHash('sha256').update(instanceFolder).digest('hex').slice(0, 24);
    return join(this.parent, `${PREFIX}${digest}-${generation}`);
  }

  /** @throws Error if the group cannot be created */
  async create(path: string, memoryMb?: number): Promise<void> {
    await mkdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    if (memoryMb === undefined || !this.limitsMemory) return;
    await writeFile(join(path, 'memory.max'), String(memoryMb * 1024 * 1024));
    await writeFile(join(path, 'memory.oom.group'), '1').catch(() => undefined);
  }
}

/** Sends SIGKILL to all processes of a group; returns whether there were any. */
export async function killGroup(path: string): Promise<boolean> {
  const events = await readFile(join(path, 'cgroup.events'), 'utf8').catch(removedAs(''));
  if (!/^populated 1$/m.test(events)) return false;
  await writeFile(join(path, 'cgroup.kill'), '1').catch(removedAs(undefined));
  return true;
}

/** For `catch`: returns `value` if the group does not exist, or was removed after its file was opened. */
function removedAs<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT' || error.code === 'ENODEV') return value;
    throw error;
  };
}

/** Returns the pids of a group; none if the group does not exist. */
export async function groupMembers(path: string): Promise<number[]> {
  const text = await readFile(join(path, 'cgroup.procs'), 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean).map(Number);
}

/**
 * Whether the kernel killed a process of the group because of its memory limit; undefined if the kernel does not report
 * it.
 */
export async function wasShortOfMemory(path: string): Promise<boolean | undefined> {
  const events = await readFile(join(path, 'memory.events'), 'utf8').catch(() => undefined);
  return events === undefined ? undefined : /^oom_kill [1-9]/m.test(events);
}

/** Removes an empty group; one that does not exist or is not empty stays unchanged. */
export async function removeGroup(path: string): Promise<void> {
  await rmdir(path).catch(() => undefined);
}

function ownGroup(procFolder: string): string | undefined {
  try {
    const mount = readFileSync(join(procFolder, 'self/mountinfo'), 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find((fields) => fields[fields.indexOf('-') + 1] === 'cgroup2');
    const own = /^0::(\/.*)$/m.exec(readFileSync(join(procFolder, 'self/cgroup'), 'utf8'))?.[1];
    if (!mount || own === undefined) return undefined;
    const [, , , root = '/', mountPoint = ''] = mount;
    const below = relative(root, own);
    return below.startsWith('..') ? undefined : join(mountPoint, below);
  } catch {
    return undefined;
  }
}

/** The kernel refuses this in a group that itself has processes, except the root. */
function allowMemory(parent: string): void {
  try {
    const [available, allowed] = ['cgroup.controllers', 'cgroup.subtree_control'].map((name) =>
      readFileSync(join(parent, name), 'utf8').split(/\s+/),
    );
    if (available?.includes('memory') && !allowed?.includes('memory'))
      writeFileSync(join(parent, 'cgroup.subtree_control'), '+memory');
  } catch {
    // Then there is no limit, and the start-up messages say so.
  }
}

/** Removes empty groups whose instance folder was deleted, or whose worker died before it could remove them. */
function removeForgotten(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    try {
      const path = join(parent, name);
      if (Date.now() - statSync(path).ctimeMs > ENTERED_WITHIN_MS) rmdirSync(path);
    } catch {
      // The group is not empty, or is already gone.
    }
  }
}

/**
 * Tests that a process can enter the group, that all its processes can be killed, and that the group can be removed.
 */
function tryOut(path: string): { limitsMemory: boolean } | undefined {
  try {
    mkdirSync(path);
    try {
      readFileSync(join(path, 'cgroup.events'));
      execFileSync('/bin/sh', ['-c', 'echo $$ > "$1/cgroup.procs" && [ -w "$1/cgroup.kill" ]', 'slipway-trial', path], {
        env: systemEnvironment(),
        stdio: 'ignore',
        timeout: 5_000,
      });
      return { limitsMemory: hasFile(join(path, 'memory.max')) };
    } finally {
      rmdirSync(path);
    }
  } catch {
    return undefined;
  }
}

function hasFile(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}
