import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { groupMembers, killGroup } from '../host/engine-cgroup.js';
import type { StartRecord } from './instance-folder.js';

const run = promisify(execFile);

/**
 * A variable in every engine's environment. Children of the engine inherit it, which distinguishes them from foreign
 * processes.
 */
export const INSTANCE_VARIABLE = 'SLIPWAY_INSTANCE_ID';
export const GENERATION_VARIABLE = 'SLIPWAY_INSTANCE_GENERATION';
/** An id alone may be that of another installation. */
export const FOLDER_VARIABLE = 'SLIPWAY_INSTANCE_FOLDER';

/** The generation whose processes are meant. */
export interface ProcessOwner {
  instanceId: string;
  generation: number;
  /** The instance's folder, absolute. */
  folder: string;
  record: StartRecord;
  /** The control group in which it was started, if any. */
  cgroup?: string;
}

/**
 * Identifies processes by pid **and** birth, because a pid alone may since belong to another process. On Linux the
 * birth is the start time in ticks since boot, with the boot's id. On other systems it is the output of `ps -o
 * lstart=`.
 */
export class EngineProcesses {
  private readonly hasProc: boolean;
  /** Empty if there is none. Written into every pid file, so that a file from before a reboot matches nothing. */
  readonly bootId: string;

  constructor(procFolder = '/proc') {
    this.bootId = readBootId(procFolder);
    this.hasProc = this.bootId !== '';
  }

  /** A zombie counts as dead: it runs nothing and waits for a parent that may never collect it. */
  async isAlive(record: StartRecord): Promise<boolean> {
    if (record.bootId !== this.bootId) return false;
    if (!this.hasProc) return (await this.birthFromPs(record.pid)) === record.birth;
    const stat = await readStat(record.pid);
    return stat !== undefined && !stat.isDead && stat.birth === record.birth;
  }

  /**
   * Sends one signal to the leader, or to its whole group. The process may have ended since the check, which does no
   * harm.
   */
  signal({ pid }: StartRecord, signal: NodeJS.Signals, to: 'leader' | 'group'): void {
    signalQuietly(to === 'group' ? -pid : pid, signal);
  }

  /**
   * Sends SIGKILL to all processes that belong to the engine, in any group or session. These are the members of the
   * control group, the processes that inherited the marker and, while the leader lives and its session is certainly its
   * own, the rest of that session.
   * Returns whether there were any; call it again until there are none. Without /proc it only kills the group of a
   * living leader.
   */
  async killAll(own: ProcessOwner): Promise<boolean> {
    const { record, cgroup } = own;
    if (record.bootId !== this.bootId) return false;
    const isLed = await this.isAlive(record);
    if (!this.hasProc) {
      if (isLed) this.signal(record, 'SIGKILL', 'group');
      return isLed;
    }
    const wasPopulated = cgroup !== undefined && (await killGroup(cgroup));
    const pids = await this.members(own, isLed);
    for (const pid of pids) signalQuietly(pid, 'SIGKILL');
    return wasPopulated || pids.length > 0;
  }

  /**
   * Returns the pids of all processes that belong to a living engine, and of their children in any session and with any
   * environment.
   */
  async belonging(own: ProcessOwner): Promise<number[]> {
    const grouped = own.cgroup === undefined ? [] : await groupMembers(own.cgroup);
    const found = new Set([own.record.pid, ...(await this.members(own, true)), ...grouped]);
    const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const stats = await Promise.all(names.map(async (name) => [Number(name), await readStat(Number(name))] as const));
    for (let size = -1; size !== found.size;) {
      size = found.size;
      for (const [pid, stat] of stats) if (stat && found.has(stat.parent)) found.add(pid);
    }
    return [...found];
  }

  private async members(own: ProcessOwner, isLed: boolean): Promise<number[]> {
    const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const found = await Promise.all(
      names.map(async (name) => {
        const pid = Number(name);
        const stat = await readStat(pid);
        if (stat === undefined || stat.isDead) return undefined;
        if (isLed && stat.session === own.record.pid) return pid;
        return isMarked(await readEnvironment(pid), own, stat.group) ? pid : undefined;
      }),
    );
    return found.filter((pid) => pid !== undefined);
  }

  private async birthFromPs(pid: number): Promise<string | undefined> {
    try {
      const { stdout } = await run('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
        env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
      });
      const [, state, birth] = /^(\S+)\s+(\S.*)$/.exec(stdout.trim()) ?? [];
      return state === undefined || state.startsWith('Z') ? undefined : birth;
    } catch {
      return undefined;
    }
  }
}

interface ProcessStat {
  isDead: boolean;
  parent: number;
  group: number;
  session: number;
  birth: string;
}

/**
 * Reads fields of proc(5) `stat`. The name in parentheses may contain anything, so counting starts after the last
 * parenthesis.
 */
async function readStat(pid: number): Promise<ProcessStat | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, session] = fields;
  return {
    isDead: state === 'Z' || state === 'X',
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    birth: fields[19],
  };
}

async function readEnvironment(pid: number): Promise<Set<string>> {
  const text = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  return new Set(text.split('\0'));
}

/** Engines of the previous release have no folder in their environment; they are identified by their group. */
function isMarked(environment: ReadonlySet<string>, own: ProcessOwner, group: number): boolean {
  // As the bytes were read.
  const has = (name: string, value: string) =>
    environment.has(`${name}=${Buffer.from(value, 'utf8').toString('latin1')}`);
  if (!has(INSTANCE_VARIABLE, own.instanceId)) return false;
  if (has(FOLDER_VARIABLE, own.folder)) return has(GENERATION_VARIABLE, String(own.generation));
  return group === own.record.pid;
}

function readBootId(procFolder: string): string {
  try {
    return readFileSync(`${procFolder}/sys/kernel/random/boot_id`, 'utf8').trim();
  } catch {
    return '';
  }
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
