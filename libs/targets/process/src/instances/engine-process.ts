import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { groupMembers, killGroup } from '../host/engine-cgroup.js';
import type { StartRecord } from './instance-folder.js';

const run = promisify(execFile);

/** Name in every engine's environment; children of the engine inherit it, which tells them from strangers. */
export const INSTANCE_VARIABLE = 'SLIPWAY_INSTANCE_ID';
export const GENERATION_VARIABLE = 'SLIPWAY_INSTANCE_GENERATION';
/** An id alone may be another installation's. */
export const FOLDER_VARIABLE = 'SLIPWAY_INSTANCE_FOLDER';

/** Whose processes are meant. */
export interface ProcessOwner {
  instanceId: string;
  generation: number;
  /** The instance's folder, absolute. */
  folder: string;
  record: StartRecord;
  /** The control group that it was started in, if it was. */
  cgroup?: string;
}

/**
 * Looks at processes by pid **and** birth, because a pid alone may since belong to somebody else. On Linux the birth is the
 * start time in ticks since boot, with the boot's id; elsewhere it is what `ps -o lstart=` prints.
 */
export class EngineProcesses {
  private readonly hasProc: boolean;
  /** Empty if there is none; written into every pid file, so that one from before a reboot matches nothing. */
  readonly bootId: string;

  constructor(procFolder = '/proc') {
    this.bootId = readBootId(procFolder);
    this.hasProc = this.bootId !== '';
  }

  /** A zombie counts as dead: it runs nothing and waits for a parent that may never ask. */
  async isAlive(record: StartRecord): Promise<boolean> {
    if (record.bootId !== this.bootId) return false;
    if (!this.hasProc) return (await this.birthFromPs(record.pid)) === record.birth;
    const stat = await readStat(record.pid);
    return stat !== undefined && !stat.isDead && stat.birth === record.birth;
  }

  /** One signal to the leader, or to its whole group. Between the look and the signal it may have ended: no matter. */
  signal({ pid }: StartRecord, signal: NodeJS.Signals, to: 'leader' | 'group'): void {
    signalQuietly(to === 'group' ? -pid : pid, signal);
  }

  /**
   * SIGKILL to all that belong, in whatever group or session: those of the control group, those that have inherited the marker, and,
   * while the leader lives and its session is certainly its own, the rest of that. Returns whether there was any: ask again until there
   * is none. Without /proc there is only the group of a living leader.
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

  /** Pids of all that belong to an engine that lives, and of their children, whatever session and environment these have. */
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
      const [, state, birth] = /^\s*(\S+)\s+(.*?)\s*$/.exec(stdout) ?? [];
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

/** Fields of proc(5) `stat`. The name in parentheses may contain anything, so counting starts behind the last one. */
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

/** An engine of the release before has no folder in its environment; of those, the group tells. */
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
