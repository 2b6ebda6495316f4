import { onStopRequest, surviveClosedPipes, tokenNotice } from './launcher.js';
import { startStack, StackError, type Stack, type StackOptions } from './stack.js';

/**
 * The whole stack in the foreground, until SIGINT or SIGTERM. stdout gets one line, when everything serves; the rest goes
 * to stderr. Ends the process: 0 after a stop, 78 for a wrong configuration, 1 if it cannot start.
 */
export async function runInForeground(options: Pick<StackOptions, 'entries'> = {}): Promise<void> {
  surviveClosedPipes();
  let stack: Stack | undefined;
  let isAskedToStop = false;
  const stop = async (exitCode: number): Promise<void> => {
    await stack?.stop();
    process.exit(exitCode);
  };
  onStopRequest(() => {
    isAskedToStop = true;
    if (stack) void stop(0);
  });

  try {
    stack = await startStack({ ...options, log: (line) => process.stderr.write(`${line}\n`) });
    if (stack.token.isNew) process.stderr.write(tokenNotice(stack.token));
    if (isAskedToStop) await stop(0);
    await stack.ready;
    process.stdout.write(`slipway ready api=${stack.apiUrl} gateway=${stack.gatewayUrl}\n`);
  } catch (error) {
    // Asked to stop while it was starting: whoever asked is stopping it, unless there was nothing to stop yet.
    if (isAskedToStop && !stack) process.exit(0);
    if (isAskedToStop) return;
    process.stderr.write(`${error instanceof StackError ? error.message : String((error as Error).stack ?? error)}\n`);
    await stop(error instanceof StackError ? error.exitCode : 1);
  }
}
