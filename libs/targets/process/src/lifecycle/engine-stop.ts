import type { EngineProcesses } from '../instances/engine-process.js';
import { CLAIM_DEADLINE_MS } from './engine-start.js';
import { removeGroup } from '../host/engine-cgroup.js';
import {
  type Generation,
  InstanceFolder,
  type StartRecord,
  type StopSignal,
  missingAs,
} from '../instances/instance-folder.js';
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const DEFAULT_STOP: StopSignal = { signal: 'SIGTERM', to: 'leader' };

/**
 * Ends generations: it writes a mark into the folder and sends the stop signal once. It sends SIGKILL to all processes
 * that belong to the generation when the mark is older than the grace period or the leader has gone.
 * Only the leader gets the stop signal: engines that start workers end them in order, and break if the workers get the
 * signal at the same time.
 */
export class EngineStopper {
  private readonly escalations = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly processes: EngineProcesses,
    private readonly graceSeconds: number,
    private readonly folderOf: (instanceId: string) => InstanceFolder,
  ) {}

  /**
   * Does one step of the stop; returns whether any process is left. The mark is written before the pid file is read, so
   * that a process that claims its generation later sees the mark and ends by itself.
   */
  async stop(instanceId: string, generations: readonly Pick<Generation, 'generation'>[]): Promise<boolean> {
    const folder = this.folderOf(instanceId);
    await Promise.all(generations.map(({ generation }) => folder.mark(generation, 'stop')));
    const wanted = new Set(generations.map(({ generation }) => generation));
    let isLeft = false;
    let graceSeconds = 0;
    for (const current of (await folder.generations()).filter(({ generation }) => wanted.has(generation))) {
      const intent = await folder.readIntent(current.generation);
      const stop: Required<StopSignal> = { graceSeconds: this.graceSeconds, ...DEFAULT_STOP, ...intent?.stop };
      graceSeconds = Math.max(graceSeconds, stop.graceSeconds);
      const isRunning = current.record
        ? await this.stopProcess(
            folder,
            { instanceId, ...current, record: current.record, cgroup: intent?.cgroup },
            stop,
          )
        : isBeingWritten(current);
      if (!isRunning && intent?.cgroup !== undefined) await removeGroup(intent.cgroup);
      isLeft ||= isRunning;
    }
    if (isLeft) this.escalateLater(instanceId, graceSeconds);
    else this.cancel(instanceId);
    return isLeft;
  }

  close(): void {
    for (const instanceId of [...this.escalations.keys()]) this.cancel(instanceId);
  }

  private async stopProcess(
    folder: InstanceFolder,
    own: Generation & { instanceId: string; record: StartRecord; cgroup?: string },
    { signal, to, graceSeconds }: Required<StopSignal>,
  ): Promise<boolean> {
    const isLed = await this.processes.isAlive(own.record);
    const isOverdue = own.stoppedAt !== undefined && Date.now() >= own.stoppedAt + graceSeconds * 1000;
    if (!isLed || isOverdue) return this.processes.killAll({ ...own, folder: folder.path });
    // Only once, because many servers treat a second signal as "drop everything". A crash before the mark repeats it,
    // which is allowed.
    if (!own.wasTermed) {
      this.processes.signal(own.record, signal, to);
      await folder.mark(own.generation, 'term');
    }
    return true;
  }

  /** Only makes the stop prompt: any later call, by any worker, escalates as well. */
  private escalateLater(instanceId: string, graceSeconds: number): void {
    if (this.escalations.has(instanceId)) return;
    const timer = setTimeout(
      () => {
        this.escalations.delete(instanceId);
        this.folderOf(instanceId)
          .generations()
          .then((known) =>
            this.stop(
              instanceId,
              known.filter(({ stoppedAt }) => stoppedAt !== undefined),
            ),
          )
          .catch(() => undefined);
      },
      graceSeconds * 1000 + 50,
    );
    this.escalations.set(instanceId, timer.unref());
  }

  private cancel(instanceId: string): void {
    clearTimeout(this.escalations.get(instanceId));
    this.escalations.delete(instanceId);
  }
}

/** Whether a claim lacks its last line: it is being written at this moment, or will never be finished. */
export function isBeingWritten(own: Generation): boolean {
  return own.isTorn && Date.now() - own.claimedAt! < CLAIM_DEADLINE_MS;
}

/**
 * Removes the folder of an instance that was terminated long ago. It is renamed first: a process that was about to
 * claim a generation in it finds no folder and ends. A process that had just claimed one gets the folder back.
 */
export async function removeFolder(folder: InstanceFolder, processes: EngineProcesses): Promise<void> {
  // A name that no instance can have.
  const grave = new InstanceFolder(join(dirname(folder.path), `.removed.${basename(folder.path)}`));
  await rm(grave.path, { recursive: true, force: true });
  await rename(folder.path, grave.path).catch(missingAs(undefined));
  for (const { record } of await grave.generations()) {
    if (record === undefined || !(await processes.isAlive(record))) continue;
    await rename(grave.path, folder.path);
    return;
  }
  await rm(grave.path, { recursive: true, force: true });
}
