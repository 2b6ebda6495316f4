import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { guard } from './guard.js';

const SHOWN_BYTES = 4_000;

/** One program of the control plane, with its output in a file. */
export class Component {
  private readonly child: ChildProcess;
  /** Resolves with the exit status, or the signal's name. */
  readonly ended: Promise<number | string>;
  private isOver = false;

  constructor(
    readonly name: string,
    program: string,
    args: string[],
    private readonly logs: string,
  ) {
    const output = openSync(this.logFile, 'a', 0o600);
    try {
      // Passes no environment of this process: a proxy setting must not affect connections on loopback.
      this.child = spawn(program, args, {
        stdio: ['ignore', output, output],
        detached: true,
        env: { PATH: '/usr/bin:/bin', HOME: logs, GOMAXPROCS: '2' },
      });
    } finally {
      closeSync(output);
    }
    const { pid } = this.child;
    if (pid !== undefined) guard.watch(pid);
    this.ended = new Promise((resolve) => {
      const end = (how: number | string): void => {
        this.isOver = true;
        if (pid !== undefined) guard.forget(pid);
        resolve(how);
      };
      this.child.once('error', (error) => end(error.message));
      this.child.once('exit', (code, signal) => end(code ?? signal ?? 'unknown'));
    });
    this.child.unref();
  }

  get isRunning(): boolean {
    return !this.isOver;
  }

  /** Does nothing if the process has ended. */
  signal(name: NodeJS.Signals): void {
    if (this.isRunning && this.child.pid !== undefined) this.child.kill(name);
  }

  /** Ends the process like a power failure; works also if SIGSTOP has stopped it. */
  async kill(): Promise<void> {
    // Keeps this process alive while it waits, even if it has nothing else to do.
    if (this.isRunning) this.child.ref();
    this.signal('SIGKILL');
    await this.ended;
  }

  /** The end of its output, for the message of a failure. */
  tail(): string {
    try {
      return readFileSync(this.logFile, 'utf8').slice(-SHOWN_BYTES);
    } catch {
      return '';
    }
  }

  private get logFile(): string {
    return path.join(this.logs, `${this.name}.log`);
  }
}
