import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../guard.mjs', import.meta.url));

/** Ensures that the processes of a test end with the test process, even if it is killed. */
class Guard {
  private child?: ChildProcess;
  private readonly groups = new Set<number>();

  /** Registers the group of a process that was started `detached`. */
  watch(group: number): void {
    this.groups.add(group);
    this.tell(`+${group}`);
  }

  forget(group: number): void {
    if (this.groups.delete(group)) this.tell(`-${group}`);
  }

  /** Removes a folder after this process has ended. */
  sweep(folder: string): void {
    this.tell(`rm ${folder}`);
  }

  private tell(line: string): void {
    this.child ??= this.start();
    this.child.stdin?.write(`${line}\n`);
  }

  private start(): ChildProcess {
    // The guard has its own group: a Ctrl-C in the terminal is meant for the tests.
    const child = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    child.stdin.on('error', () => undefined);
    child.unref();
    (child.stdin as typeof child.stdin & { unref?(): void }).unref?.();
    return child;
  }
}

/** One guard for all beds of this process. */
export const guard = new Guard();
