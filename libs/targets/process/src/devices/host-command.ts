import { spawn } from 'node:child_process';

/** The limit for one program's output; a host with 64 accelerators needs some tens of kilobytes. */
const MAX_OUTPUT_BYTES = 256 * 1024;

export interface CommandAnswer {
  /** The output, cut off at 256 KiB; empty if the program did not end. */
  output: string;
  /** Why the output is not reliable. */
  problem?: string;
}

/** By the file of the program: the process of ours that has not ended. With a broken kernel driver it never does. */
const running = new Map<string, { since: number; ended: Promise<void> }>();

/**
 * Runs a program that reports about the host, and returns within the limit in any case. A program that cannot be
 * killed, as with a broken driver, is left running, and no second one is started meanwhile. Never throws.
 */
export async function askProgram(
  file: string,
  args: readonly string[],
  { path, limitMs }: { path: string; limitMs: number },
): Promise<CommandAnswer> {
  const before = running.get(file);
  if (before && !(await isOver(before.ended, limitMs)))
    return { output: '', problem: `${file} has not responded for ${secondsSince(before.since)} s` };
  // Two callers may have waited for the same process.
  if (running.has(file)) return askProgram(file, args, { path, limitMs });
  return new Promise((resolve) => {
    // A process group of its own, so that the children of a wrapper end with it.
    const child = spawn(file, args, {
      detached: true,
      env: { PATH: path, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (problem?: string): void => {
      clearTimeout(timer);
      child.stdout.destroy();
      // It must not keep the worker from ending either.
      child.unref();
      const output = Buffer.concat(chunks).toString('utf8').slice(0, MAX_OUTPUT_BYTES);
      resolve(problem === undefined ? { output } : { output, problem });
    };
    const giveUp = (problem: string): void => {
      killGroup(child.pid);
      settle(problem);
    };
    const timer = setTimeout(() => {
      chunks.length = 0;
      giveUp(`${file} did not respond within ${Math.ceil(limitMs / 100) / 10} s`);
    }, limitMs);
    const ended = new Promise<void>((end) => {
      child.once('exit', () => end());
      child.once('error', () => end());
    }).then(() => void running.delete(file));
    running.set(file, { since: performance.now(), ended });
    child.once('error', (error) => settle(`${file} cannot be run: ${error.message}`));
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES) giveUp(`${file} wrote more than ${MAX_OUTPUT_BYTES / 1024} KiB`);
    });
    child.once('close', (code, signal) =>
      settle(code === 0 ? undefined : `${file} ended with ${signal ?? `code ${code}`}`),
    );
  });
}

async function isOver(ended: Promise<void>, withinMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), withinMs);
  });
  try {
    return await Promise.race([ended.then(() => true), limit]);
  } finally {
    clearTimeout(timer);
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

function secondsSince(at: number): number {
  return Math.round((performance.now() - at) / 1_000);
}
