import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

export type ProcessName = 'api' | 'worker' | 'gateway';

/** Runs programs of bundles. Nothing else is in their folder, so a package that is missing in a bundle is missing. */
export class BundledProcesses {
  private readonly children = new Set<ChildProcess>();

  constructor(
    readonly folder: string,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  program(name: ProcessName, program: string): string {
    return path.join(this.folder, name, 'apps', name, 'dist', `${program}.js`);
  }

  /** Starts a server. Resolves when it reports that it is ready. @throws Error with its output if it ends first */
  async start(name: ProcessName, env: NodeJS.ProcessEnv): Promise<{ output: () => string; stop(): Promise<void> }> {
    const child = spawn(process.execPath, [this.program(name, 'main')], {
      cwd: this.folder,
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.children.add(child);
    let output = '';
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (output += String(chunk)));
    const end = once(child, 'exit').then(() => this.children.delete(child));
    const isReady = await Promise.race([once(child, 'message').then(() => true), end.then(() => false)]);
    if (!isReady) throw new Error(`the ${name} ended: ${output}`);
    const stop = async (): Promise<void> => {
      child.kill();
      await end;
    };
    return { output: () => output, stop };
  }

  /** Runs a program to its end. `root` has it elsewhere than in the bundle. */
  async run(program: string, args: string[] = [], env: NodeJS.ProcessEnv = {}, root = path.join(this.folder, 'api')) {
    const child = spawn(process.execPath, [path.join(root, 'apps/api/dist', `${program}.js`), ...args], {
      cwd: this.folder,
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    const [status] = (await once(child, 'close')) as [number | null];
    return { status, output };
  }

  async end(): Promise<void> {
    for (const child of this.children) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }
}
