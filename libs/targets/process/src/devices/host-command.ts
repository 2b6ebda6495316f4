import { spawn } from 'node:child_process';

/** Of one program's output; a host of 64 accelerators needs some tens of kilobytes. */
const MAX_OUTPUT_BYTES = 256 * 1024;

export interface CommandAnswer {
  /** What it wrote, cut off at 256 KiB; empty where it did not end. */
  output: string;
  /** Why the output is not to be relied on. */
  problem?: string;
}

/** By the file of the program: the one of this process that has not ended. Under a broken driver of the kernel it never does. */
const running = new Map<string, { since: number; ended: Promise<void> }>();

/**
 * Runs a program that tells of the host, and is back within the limit whatever it does. One that cannot be killed, as under a broken driver,
 * is left behind, and no second one is started beside it. Never throws.
 */
export async function askProgram(
  file: string,
  args: readonly string[],
  { path, limitMs }: { path: string; limitMs: number },
): Promise<CommandAnswer> {
  const before = running.get(file);
  if (before && !(await isOver(before.ended, limitMs)))
    return { output: '', problem: `${file} has not responded for ${secondsSince(before.since)} s` };
  // Two may have waited for the same one.
  if (running.has(file)) return askProgram(file, args, { path, limitMs });
  return new Promise((resolve) => {
    // A group of its own: what a wrapper has started ends with it.
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
