import path from 'node:path';
import { cannotStart, childEnvironment } from '@slipway/platform-config';
import { noticeIn, onStopRequest, surviveClosedPipes, tokenNotice } from './launcher.js';
import { startStack, type Stack, type StackOptions } from './stack.js';

export interface ForegroundOptions extends Pick<StackOptions, 'entries' | 'env' | 'cwd'> {
  /** Hides the output of the processes, which is also in the log file, and prints what a person can do next. */
  isQuiet?: boolean;
}

/**
 * `slipway up` calls it, as the export of the package `@slipway/server`. The operator's file is the one next to `home`,
 * wherever the command was typed: the same data must not get other targets from another folder.
 */
export async function up({ home, isVerbose }: { home: string; isVerbose: boolean }): Promise<void> {
  const env = { ...childEnvironment(), SLIPWAY_HOME: home };
  await runInForeground({ env, cwd: path.dirname(home), isQuiet: !isVerbose });
}

/**
 * Runs the whole stack in the foreground, until SIGINT or SIGTERM. It prints one line to stdout when everything serves;
 * the rest goes to stderr. Ends the process: 0 after a stop, 78 for an invalid configuration, 1 if it cannot start.
 */
export async function runInForeground({ isQuiet, ...options }: ForegroundOptions = {}): Promise<void> {
  surviveClosedPipes();
  let stack: Stack | undefined;
  const asked = new AbortController();
  const write = (line: string): void => void process.stderr.write(`${line}\n`);
  const log = (line: string): void => {
    const shown = isQuiet ? noticeIn(line) : line;
    if (shown !== undefined) write(shown);
  };
  onStopRequest(
    () => {
      asked.abort();
      if (stack) void stack.stop().then(() => process.exit(0));
    },
    () => stack?.reload(),
  );

  try {
    if (isQuiet) write('Starting Postgres, api, worker and gateway …');
    stack = await startStack({ ...options, log, signal: asked.signal });
    if (stack.token.isNew) process.stderr.write(tokenNotice(stack.token));
    if (asked.signal.aborted) {
      await stack.stop();
      process.exit(0);
    }
    await stack.ready;
    process.stdout.write(`slipway ready api=${stack.apiUrl} gateway=${stack.gatewayUrl}\n`);
    if (isQuiet) for (const line of nextLines(stack)) write(line);
  } catch (error) {
    // A stop was requested during the start. The handler of the request stops the stack, unless there was nothing to
    // stop yet.
    if (asked.signal.aborted && !stack) process.exit(0);
    if (asked.signal.aborted) return;
    await stack?.stop();
    cannotStart('', error);
  }
}

function nextLines({ apiUrl, home, token }: Stack): string[] {
  const key = token.file ? `the token in ${token.file}` : 'the token of SLIPWAY_BOOTSTRAP_TOKEN';
  return [
    ...(childEnvironment()['SLIPWAY_CONSOLE'] === 'off' ? [] : [`  Console: ${apiUrl}/ (sign in with ${key})`]),
    `  Data: ${home}`,
    '  Next, in another shell: slipway deployments create chat',
    'Ctrl-C stops it. The next slipway up continues with the same data.',
  ];
}
