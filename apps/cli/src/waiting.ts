import type { Operation } from '@slipway/sdk';
import { CliError, EXIT } from './exit-codes.js';
import type { Session } from './session.js';
import { harmless } from './terminal.js';

const LIMIT_MS = 60 * 60_000;

/**
 * Waits for the end of an operation, and tells its steps on stderr, a line each. Ctrl-C ends the wait and never the work.
 * @throws OperationFailed where it has ended otherwise than well; exit code 5 behind the limit, 2 after Ctrl-C
 */
export async function waitForOperation(
  session: Session,
  id: string,
  { limitMs = LIMIT_MS }: { limitMs?: number } = {},
): Promise<Operation> {
  const client = await session.client();
  const startedAt = performance.now();
  const comeBack = `It goes on. Come back with: slipway operations wait ${id}`;
  try {
    return await client.operations.wait(id, {
      limitMs,
      signal: session.signal,
      onStep: ({ name, status, message }) =>
        session.note(harmless(`${name}: ${status}${message && status !== 'succeeded' ? ` (${message})` : ''}`)),
    });
  } catch (error) {
    if (session.signal.aborted) throw new CliError(`No longer waiting for ${id}.`, EXIT.cancelled, comeBack);
    const hasPassed = performance.now() - startedAt >= limitMs;
    if (hasPassed && (error as { code?: string }).code === 'timed_out')
      throw new CliError(`${id} has not ended within ${limitMs / 1000} s.`, EXIT.timedOut, comeBack);
    throw error;
  }
}
