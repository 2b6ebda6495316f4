import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { ROOT } from '../harness/stack.js';

/** The bundled command, run through the file that npm links. */
export const COMMAND = path.join(ROOT, 'apps/cli/bin/slipway.js');

/** Whether a shell is installed; if not, its tests are skipped by name. */
export const isInstalled = (program: string): boolean => spawnSync(program, ['-c', 'true']).status === 0;

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Starts the command in pipes. `ran` grows while the command writes, and `ended` resolves to it. */
export function beginCommand(
  words: readonly string[],
  { cwd, env, stdin = '' }: { cwd: string; env: NodeJS.ProcessEnv; stdin?: string },
): { child: ChildProcess; ran: CommandResult; ended: Promise<CommandResult> } {
  const child = spawn(process.execPath, [COMMAND, ...words], { cwd, env });
  const ran: CommandResult = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (ran.stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (ran.stderr += String(chunk)));
  const ended = new Promise<CommandResult>((resolve) =>
    child.once('close', (code) => resolve(Object.assign(ran, { code }))),
  );
  child.stdin.end(stdin);
  return { child, ran, ended };
}
