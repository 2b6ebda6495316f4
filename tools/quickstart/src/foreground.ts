import { cannotStart } from '@slipway/platform-config';
import { onStopRequest, surviveClosedPipes, tokenNotice } from './launcher.js';
import { startStack, type Stack, type StackOptions } from './stack.js';

/**
 * Runs the whole stack in the foreground, until SIGINT or SIGTERM. It prints one line to stdout when everything serves;
 * the rest goes to stderr. Ends the process: 0 after a stop, 78 for an invalid configuration, 1 if it cannot start.
 */
export async function runInForeground(options: Pick<StackOptions, 'entries'> = {}): Promise<void> {
  surviveClosedPipes();
  let stack: Stack | undefined;
  const asked = new AbortController();
  const write = (line: string): void => void process.stderr.write(`${line}\n`);
  onStopRequest(
    () => {
      asked.abort();
      if (stack) void stack.stop().then(() => process.exit(0));
    },
    () => stack?.reload(),
  );

  try {
    stack = await startStack({ ...options, log: write, signal: asked.signal });
    if (stack.token.isNew) process.stderr.write(tokenNotice(stack.token));
    if (asked.signal.aborted) {
      await stack.stop();
      process.exit(0);
    }
    await stack.ready;
    process.stdout.write(`slipway ready api=${stack.apiUrl} gateway=${stack.gatewayUrl}\n`);
  } catch (error) {
    // A stop was requested during the start. The handler of the request stops the stack, unless there was nothing to
    // stop yet.
    if (asked.signal.aborted && !stack) process.exit(0);
    if (asked.signal.aborted) return;
    await stack?.stop();
    cannotStart('', error);
  }
}
