import type { Observation } from '@slipway/target-driver';
import { isBeingWritten } from './engine-stop.js';
import type { Generation, StartRecord } from './instance-folder.js';

/** Of a generation that no process has claimed. */
export function unclaimed(own: Generation): Observation {
  const { generation } = own;
  const over = { state: 'exited', generation, lastExit: { code: null } } as const;
  if (own.stoppedAt !== undefined)
    return { ...over, reason: 'terminated', message: 'it was terminated before it started' };
  if (!own.isTorn) return { state: 'absent' };
  if (isBeingWritten(own)) return { state: 'starting', reason: 'loading', generation };
  return { ...over, reason: 'start_failed', message: 'its process died while it started' };
}

/** Of a generation whose process is gone. */
export function exited({ generation, exit, stoppedAt }: Generation): Observation {
  const how =
    exit === undefined
      ? 'it is gone'
      : exit.signal
        ? `it was ended by ${exit.signal}`
        : `it ended with code ${exit.code}`;
  const message = stoppedAt === undefined ? how : `${how} after it was terminated`;
  const byItself = exit === undefined ? 'lost' : exit.signal ? 'killed' : 'exited';
  const reason = stoppedAt === undefined ? byItself : 'terminated';
  return { state: 'exited', generation, reason, lastExit: { code: exit?.code ?? null }, message };
}

/** One run of the engine: another process is another incarnation. */
export function incarnationOf({ pid }: StartRecord): string {
  return String(pid);
}
