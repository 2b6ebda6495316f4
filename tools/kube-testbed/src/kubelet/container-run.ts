import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import os from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { guard } from '../guard.js';
import { ContainerLog } from './container-log.js';
import type { Image } from './images.js';

/** The end of a run, as in a container's status. */
export interface ContainerEnd {
  exitCode: number;
  reason: string;
  message?: string;
  signal?: number;
  startedAt: string;
  finishedAt: string;
  containerID: string;
}

/** One run of a container: a local process in its own group. */
export class ContainerRun {
  readonly log = new ContainerLog();
  readonly containerID = `testbed://${randomUUID()}`;
  readonly startedAt = now();
  readonly ended: Promise<ContainerEnd>;
  private readonly child: ChildProcess;
  private isOver = false;
  /** Set by this kubelet, to distinguish its SIGKILL from any other. */
  private isKilled = false;

  constructor(argv: readonly string[], values: Readonly<Record<string, string>>, image: Image) {
    const [file = '', ...args] = argv;
    this.child = spawn(file, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      cwd: os.tmpdir(),
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...values },
    });
    const { pid } = this.child;
    if (pid !== undefined) guard.watch(pid);
    this.child.stdout?.on('data', (chunk: Buffer) => this.log.write('Stdout', chunk));
    this.child.stderr?.on('data', (chunk: Buffer) => this.log.write('Stderr', chunk));
    this.ended = new Promise((resolve) => {
      const end = (how: Pick<ContainerEnd, 'exitCode' | 'reason' | 'message' | 'signal'>): void => {
        if (this.isOver) return;
        this.isOver = true;
        // Remaining processes of the group end with their container.
        this.signalGroup('SIGKILL');
        if (pid !== undefined) guard.forget(pid);
        this.log.end();
        resolve({ ...how, startedAt: this.startedAt, finishedAt: now(), containerID: this.containerID });
      };
      this.child.once('error', (error) => end({ exitCode: 128, reason: 'StartError', message: error.message }));
      // Not `exit`, because the last output may still be in the pipe then. A child that keeps the pipe open is not
      // waited for.
      this.child.once('exit', (code, signal) => {
        const done = (): void => end(endOf(code, signal, this.isKilled ? undefined : image.killedAs));
        this.child.once('close', done);
        setTimeout(done, 200).unref();
      });
    });
  }

  get pid(): number | undefined {
    return this.isOver ? undefined : this.child.pid;
  }

  /** Sends SIGTERM, and SIGKILL after the grace period. */
  async stop(graceMs: number): Promise<ContainerEnd> {
    this.child.kill('SIGTERM');
    const timer = new AbortController();
    void delay(graceMs, undefined, { signal: timer.signal }).then(
      () => this.kill(),
      () => undefined,
    );
    return await this.ended.finally(() => timer.abort());
  }

  /** Ends the process at once, by order of this node's kubelet. */
  kill(): void {
    this.isKilled = true;
    this.signalGroup('SIGKILL');
  }

  /** Ends the process as if it had crashed. */
  crash(): void {
    this.child.kill('SIGKILL');
  }

  private signalGroup(name: NodeJS.Signals): void {
    if (this.child.pid === undefined) return;
    try {
      process.kill(-this.child.pid, name);
    } catch {
      // The group has no processes left.
    }
  }
}

function endOf(
  code: number | null,
  signal: NodeJS.Signals | null,
  killedAs: Image['killedAs'],
): Pick<ContainerEnd, 'exitCode' | 'reason'> {
  if (code !== null) return { exitCode: code, reason: code === 0 ? 'Completed' : 'Error' };
  const reason = signal === 'SIGKILL' && killedAs ? killedAs : 'Error';
  return { exitCode: 128 + (signal === null ? 0 : os.constants.signals[signal]), reason };
}

/** The current time, to the second, as Kubernetes writes times. */
export function now(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, 'Z');
}
