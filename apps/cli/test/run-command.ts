import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { CommanderError } from 'commander';
import { completionsOf } from '../src/completions.js';
import { exitCodeOf } from '../src/exit-codes.js';
import { failureLines } from '../src/failure-lines.js';
import { acceptedWords } from '../src/habits.js';
import { programOf, type Group } from '../src/program.js';
import { Session } from '../src/session.js';

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  fetch?: typeof fetch;
  stdin?: string;
  /** Types while the command runs, in place of `stdin`. */
  keys?: Readable;
  /** Sees each text that the command writes. */
  onWrite?: (text: string, side: 'stdout' | 'stderr') => void;
  env?: Record<string, string>;
  /** Both outputs are terminals of this width, and so is stdin. */
  columns?: number;
  signal?: AbortSignal;
  /** The commands, in place of the product's. */
  groups?: readonly Group[];
}

/** Runs the program as main.ts does, in this process, against a `fetch` of the test. */
export async function runCommand(words: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
  const { fetch, stdin = '', keys, env = {}, columns, signal = new AbortController().signal } = options;
  const written = { stdout: '', stderr: '' };
  const sink = (side: 'stdout' | 'stderr') => {
    const stream = Object.assign(new PassThrough(), columns === undefined ? {} : { isTTY: true, columns });
    stream.on('data', (chunk) => {
      written[side] += String(chunk);
      options.onWrite?.(String(chunk), side);
    });
    return stream;
  };
  const input = Object.assign(
    keys ?? Readable.from([Buffer.from(stdin)]),
    columns === undefined ? {} : { isTTY: true },
  );
  const home = env['HOME'] ?? mkdtempSync(path.join(tmpdir(), 'slipway-cli-'));
  const session = new Session({
    stdin: input,
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    env: { HOME: home, SLIPWAY_HOME: home, SLIPWAY_URL: 'http://slipway.test', SLIPWAY_TOKEN: 'slw_a_b', ...env },
    cwd: home,
    signal,
    fetch,
  });
  let code: number;
  try {
    const program = programOf(session, '0.0.0', options.groups);
    const [first, ...others] = words;
    if (first === '__complete')
      for (const one of await completionsOf(program, session, others)) session.output.data(one);
    else await program.parseAsync(acceptedWords(words), { from: 'user' });
    code = session.exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError))
      for (const line of failureLines(error, session.terminal)) session.note(line);
    code = error instanceof CommanderError ? error.exitCode : exitCodeOf(error);
  }
  await new Promise((resolve) => setImmediate(resolve));
  if (env['HOME'] === undefined) rmSync(home, { recursive: true });
  return { code, ...written };
}

/** Splits a line of `--help` as a POSIX shell does. */
export function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:'([^']*)'|"([^"]*)"|([^\s'"]+))(?=\s|$)/g)].map(
    (found) => found[1] ?? found[2] ?? found[3]!,
  );
}
