import { type Observation, SEARCHED_LINES, startFailure } from '@slipway/target-driver';
import { wasShortOfMemory } from '../host/engine-cgroup.js';
import { isBeingWritten } from '../lifecycle/engine-stop.js';
import type { Generation, InstanceFolder, StartIntent, StartRecord } from '../instances/instance-folder.js';
import { readLastLines } from '../logs/log-reader.js';

/** Of a generation that no process has claimed. */
export function observeUnclaimed(own: Generation): Observation {
  const { generation } = own;
  const over = { state: 'exited', generation, lastExit: { code: null } } as const;
  if (own.stoppedAt !== undefined)
    return { ...over, reason: 'terminated', message: 'it was terminated before it started' };
  if (!own.isTorn) return { state: 'absent' };
  if (isBeingWritten(own)) return { state: 'starting', reason: 'loading', generation };
  return { ...over, reason: 'start_failed', message: 'its process died while it started' };
}

/** Of a generation whose process is gone. One that never was ready is a start that failed, however it ended: engines do end with 0. */
export async function observeExited(
  own: Generation,
  intent: StartIntent | undefined,
  folder: InstanceFolder,
  secrets: readonly string[],
): Promise<Observation> {
  const { generation, exit, stoppedAt } = own;
  const how =
    exit === undefined
      ? 'it is gone'
      : exit.signal
        ? `it was ended by ${exit.signal}`
        : `it ended with code ${exit.code}`;
  const over = { state: 'exited', generation, lastExit: { code: exit?.code ?? null } } as const;
  if (stoppedAt !== undefined) return { ...over, reason: 'terminated', message: `${how} after it was terminated` };
  const byItself = exit === undefined ? 'lost' : exit.signal ? 'killed' : 'exited';
  const { cgroup, program } = intent ?? {};
  const wasShort = cgroup === undefined ? undefined : await wasShortOfMemory(cgroup);
  if (own.wasReady) return { ...over, reason: wasShort ? 'out_of_memory' : byItself, message: how };
  const failure = startFailure(
    {
      code: exit?.code ?? null,
      signal: exit?.signal ?? null,
      ...(wasShort === undefined ? {} : { wasShortOfMemory: wasShort }),
      ...(program === undefined ? {} : { program }),
    },
    await readLastLines(folder.path, generation, SEARCHED_LINES, secrets),
  );
  const message = failure.line === undefined ? how : `${how}: ${failure.line}`;
  return { ...over, reason: failure.cause, message, failure };
}

/** One run of the engine: another process is another incarnation. */
export function processIncarnation({ pid }: StartRecord): string {
  return String(pid);
}
