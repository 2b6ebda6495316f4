import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { StepOutput } from './page.js';

/**
 * Arguments that exclude the configuration files of the user who runs the tests, and that make each shell interactive.
 */
const SHELLS = {
  bash: { plain: ['--noprofile', '--norc'], interactive: ['--noprofile', '--norc', '--noediting', '-i'] },
  dash: { plain: [], interactive: ['-i'] },
  zsh: { plain: ['-f'], interactive: ['-f', '-i', '+o', 'promptsp', '+o', 'promptcr'] },
};
export type ShellName = keyof typeof SHELLS;
export const SHELL_NAMES = Object.keys(SHELLS) as ShellName[];

/** The shell, and curl, which all pages use. */
export const isInstalled = (shell: ShellName): boolean => spawnSync(shell, ['-c', 'curl --version']).status === 0;

const MARK = '== typed:';
/** More than any page needs; without a limit, a shell that waits for the end of a quotation would wait forever. */
const LIMIT_MS = 240_000;
/** A job that was asked to end may take this long after the shell has ended. */
const LAST_MS = 5_000;

/**
 * Types each text into one shell and returns the output of each. `pasted`: into an interactive shell, with comments of
 * zsh and the history of bash as in a terminal; otherwise the texts run as a file.
 * @throws Error if the shell does not end, or leaves a process running
 */
export async function typeInto(
  shell: ShellName,
  texts: string[],
  options: { pasted: boolean; cwd: string; env: NodeJS.ProcessEnv },
): Promise<StepOutput[]> {
  const marked = texts.map(
    (text) => `${text.trimEnd()}\ntyped=$?; printf '\\n${MARK}%s\\n' $typed; printf '\\n${MARK}\\n' >&2\n`,
  );
  const script = `PS1=; PS2=\nprintf '\\n${MARK}\\n'; printf '\\n${MARK}\\n' >&2\n${marked.join('')}exit 0\n`;
  const file = path.join(options.cwd, 'typed');
  writeFileSync(file, script);
  const { plain, interactive } = SHELLS[shell];
  const child = spawn(shell, options.pasted ? interactive : [...plain, file], {
    cwd: options.cwd,
    env: { ...options.env, HOME: options.cwd, TERM: 'dumb' },
    stdio: [options.pasted ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    // A separate group, so that all its processes can be ended.
    detached: true,
  });
  const printed = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk) => (printed.stdout += chunk));
  child.stderr?.on('data', (chunk) => (printed.stderr += chunk));
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(script);
  const limit = setTimeout(() => killGroup(child.pid), LIMIT_MS);
  let leftBehind: NodeJS.Timeout | undefined;
  let isLeftBehind = false;
  child.once('exit', () => {
    clearTimeout(limit);
    leftBehind = setTimeout(() => (isLeftBehind = killGroup(child.pid)), LAST_MS);
  });
  // Resolves only after everything that the shell started has closed its output.
  await new Promise<void>((resolve, reject) => child.once('error', reject).once('close', () => resolve()));
  clearTimeout(leftBehind);
  if (isLeftBehind) throw new Error(`${shell} left a process behind\n${printed.stderr}`);

  const stderr = printed.stderr.split(`${MARK}\n`).slice(1);
  // Each mark ends a step and contains the exit status of its last command; the first mark ends the greeting.
  const parts = printed.stdout.split(new RegExp(`${MARK}(\\d*)\\n`)).slice(2);
  return texts.map((_, index) => ({
    stdout: parts[index * 2] ?? '',
    stderr: stderr[index] ?? '',
    status: Number(parts[index * 2 + 1] || Number.NaN),
  }));
}

/** Whether there was anything to kill. */
function killGroup(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(-pid, 'SIGKILL');
  } catch {
    return false;
  }
}
