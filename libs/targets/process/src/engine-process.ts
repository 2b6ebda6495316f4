import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { StartRecord } from './instance-folder.js';

const run = promisify(execFile);

/** Name in every engine's environment; children of the engine inherit it, which tells them from strangers. */
export const INSTANCE_VARIABLE = 'SLIPWAY_INSTANCE_ID';

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

  /**
   * Processes of the engine's group that outlived their leader, such as the workers of a model server that crashed.
   * Known on Linux only, by group and by the inherited environment; elsewhere none.
   */
  async survivors(record: StartRecord, instanceId: string): Promise<number[]> {
    if (!this.hasProc || record.bootId !== this.bootId) return [];
    const names = await readdir('/proc');
    const found = await Promise.all(
      names
        .filter((name) => /^\d+$/.test(name))
        .map(async (name) => {
          const stat = await readStat(Number(name));
          if (stat === undefined || stat.isDead || stat.group !== record.pid) return undefined;
          return (await hasVariable(Number(name), INSTANCE_VARIABLE, instanceId)) ? Number(name) : undefined;
        }),
    );
    return found.filter((pid) => pid !== undefined);
  }

  /** Signals the whole group of a leader that is alive. Between the look and the signal it may have ended: no matter. */
  signalGroup(leader: number, signal: NodeJS.Signals): void {
    signalQuietly(-leader, signal);
  }

  kill(pids: readonly number[]): void {
    for (const pid of pids) signalQuietly(pid, 'SIGKILL');
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
  group: number;
  birth: string;
}

/** Fields of proc(5) `stat`. The name in parentheses may contain anything, so counting starts behind the last one. */
async function readStat(pid: number): Promise<ProcessStat | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, , group] = fields;
  return { isDead: state === 'Z' || state === 'X', group: Number(group), birth: fields[19] };
}

async function hasVariable(pid: number, name: string, value: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  return environment.split('\0').includes(`${name}=${value}`);
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
