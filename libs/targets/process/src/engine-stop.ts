import type { EngineProcesses } from './engine-process.js';
import { CLAIM_DEADLINE_MS } from './engine-start.js';
import type { Generation, InstanceFolder, StartRecord } from './instance-folder.js';

/** Ends generations: a mark in the folder, SIGTERM once, SIGKILL when the mark is older than the grace period. */
export class EngineStopper {
  private readonly escalations = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly processes: EngineProcesses,
    private readonly graceSeconds: number,
    private readonly folderOf: (instanceId: string) => InstanceFolder,
  ) {}

  /**
   * One push; returns whether anything is left. The mark comes before the look at the pid file: a process that claims
   * its generation later sees the mark and ends by itself.
   */
  async stop(instanceId: string, generations: readonly Pick<Generation, 'generation'>[]): Promise<boolean> {
    const folder = this.folderOf(instanceId);
    await Promise.all(generations.map(({ generation }) => folder.mark(generation, 'stop')));
    const wanted = new Set(generations.map(({ generation }) => generation));
    let isLeft = false;
    for (const current of (await folder.generations()).filter(({ generation }) => wanted.has(generation))) {
      const isRunning = current.record
        ? await this.stopProcess(folder, instanceId, current, current.record)
        : isBeingWritten(current);
      isLeft ||= isRunning;
    }
    if (isLeft) this.escalateLater(instanceId);
    else this.cancel(instanceId);
    return isLeft;
  }

  close(): void {
    for (const instanceId of [...this.escalations.keys()]) this.cancel(instanceId);
  }

  private async stopProcess(
    folder: InstanceFolder,
    instanceId: string,
    own: Generation,
    record: StartRecord,
  ): Promise<boolean> {
    if (!(await this.processes.isAlive(record))) {
      const survivors = await this.processes.survivors(record, instanceId);
      this.processes.kill(survivors);
      return survivors.length > 0;
    }
    if (own.stoppedAt !== undefined && Date.now() >= own.stoppedAt + this.graceSeconds * 1000) {
      this.processes.signalGroup(record.pid, 'SIGKILL');
      return true;
    }
    // Once: many servers take a second SIGTERM as "drop everything". A crash before the mark repeats it, which is allowed.
    if (!own.wasTermed) {
      this.processes.signalGroup(record.pid, 'SIGTERM');
      await folder.mark(own.generation, 'term');
    }
    return true;
  }

  /** Promptness only: any later call, by any worker, escalates just as well. */
  private escalateLater(instanceId: string): void {
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
      this.graceSeconds * 1000 + 50,
    );
    this.escalations.set(instanceId, timer.unref());
  }

  private cancel(instanceId: string): void {
    clearTimeout(this.escalations.get(instanceId));
    this.escalations.delete(instanceId);
  }
}

/** A claim without its last line: written this very moment, or never to be finished. */
export function isBeingWritten(own: Generation): boolean {
  return own.isTorn && Date.now() - own.claimedAt! < CLAIM_DEADLINE_MS;
}
