import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { ROOT } from './builder.js';

const PROGRAM = path.join(ROOT, 'tools/inference-sim/dist/main.js');
/** A stream then takes long enough to be cut. */
const TOKEN_MS = 40;

/** Model servers on this machine, outside the containers. */
export class Simulators {
  private readonly running: ChildProcess[] = [];

  /** Resolves when it listens at the address. */
  async start(host: string, port: number, model: string): Promise<void> {
    const options = [`--host=${host}`, `--port=${port}`, `--model=${model}`, `--itl-ms=${TOKEN_MS}`];
    // It ends with the test, even if that is killed.
    const words = ['--pdeathsig', 'KILL', process.execPath, PROGRAM, ...options];
    const child = spawn('setpriv', words, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.running.push(child);
    const exit = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the simulator exited with ${code}`)));
    await Promise.race([once(child.stdout!, 'data'), exit]);
    exit.catch(() => undefined);
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.running.splice(0).map((child) => {
        const end = once(child, 'exit');
        child.kill('SIGKILL');
        return child.exitCode === null ? end : undefined;
      }),
    );
  }
}
