import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';

/** A worker in a group of this name, as `DelegateSubgroup=worker` of systemd makes it, puts its engines beside itself. */
const WORKER_GROUP = 'worker';
const PREFIX = 'slipway-';
/** From the making of a group to the first process in it. */
const ENTERED_WITHIN_MS = 60_000;

/**
 * Control groups (v2): one for each generation, named by its intent. Membership is inherited, no process can leave it without the right
 * to write there, and `cgroup.kill` ends all of them at once: also those of another user, and those that have made groups of their own.
 */
export class EngineCgroups {
  private constructor(
    private readonly parent: string,
    /** Whether the kernel holds a group to a limit of memory. */
    readonly limitsMemory: boolean,
  ) {}

  /** The worker's own place in the tree, tried out once; undefined where it may make no groups there. */
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

  /** Where the group of a generation is; it need not be there. */
  pathOf(instanceFolder: string, generation: number): string {
    const digest = createHash('sha256').update(instanceFolder).digest('hex').slice(0, 24);
    return join(this.parent, `${PREFIX}${digest}-${generation}`);
  }

  /** @throws Error where the group cannot be made */
  async create(path: string, memoryMb?: number): Promise<void> {
    await mkdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    if (memoryMb === undefined || !this.limitsMemory) return;
    await writeFile(join(path, 'memory.max'), String(memoryMb * 1024 * 1024));
    await writeFile(join(path, 'memory.oom.group'), '1').catch(() => undefined);
  }
}

/** SIGKILL to all of a group; returns whether there was anybody in it. */
export async function killGroup(path: string): Promise<boolean> {
  const events = await readFile(join(path, 'cgroup.events'), 'utf8').catch(removedAs(''));
  if (!/^populated 1$/m.test(events)) return false;
  await writeFile(join(path, 'cgroup.kill'), '1').catch(removedAs(undefined));
  return true;
}

/** For `catch`: `value` if the group is not there, or was removed after its file was opened. */
function removedAs<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT' || error.code === 'ENODEV') return value;
    throw error;
  };
}

/** Pids; none of a group that is not there. */
export async function groupMembers(path: string): Promise<number[]> {
  const text = await readFile(join(path, 'cgroup.procs'), 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean).map(Number);
}

/** Whether the kernel killed something of the group for want of memory; undefined where it does not tell. */
export async function wasShortOfMemory(path: string): Promise<boolean | undefined> {
  const events = await readFile(join(path, 'memory.events'), 'utf8').catch(() => undefined);
  return events === undefined ? undefined : /^oom_kill [1-9]/m.test(events);
}

/** An empty group goes; one that is not there or not empty stays as it is. */
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

/** Refused in a group that has processes itself, other than the root. */
function allowMemory(parent: string): void {
  try {
    const [available, allowed] = ['cgroup.controllers', 'cgroup.subtree_control'].map((name) =>
      readFileSync(join(parent, name), 'utf8').split(/\s+/),
    );
    if (available?.includes('memory') && !allowed?.includes('memory'))
      writeFileSync(join(parent, 'cgroup.subtree_control'), '+memory');
  } catch {
    // Then there is no limit, which start-up says.
  }
}

/** Empty groups whose instance's folder somebody deleted, or whose worker died at the wrong line. */
function removeForgotten(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    try {
      const path = join(parent, name);
      if (Date.now() - statSync(path).ctimeMs > ENTERED_WITHIN_MS) rmdirSync(path);
    } catch {
      // Not empty, or gone.
    }
  }
}

/** A process must be able to enter, all must be killable, and the group must go again. */
function tryOut(path: string): { limitsMemory: boolean } | undefined {
  try {
    mkdirSync(path);
    try {
      readFileSync(join(path, 'cgroup.events'));
      execFileSync('/bin/sh', ['-c', 'echo $$ > "$1/cgroup.procs" && [ -w "$1/cgroup.kill" ]', 'slipway-trial', path], {
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
