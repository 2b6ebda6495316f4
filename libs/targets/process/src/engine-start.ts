import { spawn } from 'node:child_process';
import type { InstanceSpec } from '@slipway/target-driver';
import { boundLogs, openLogs } from './engine-log.js';
import { INSTANCE_VARIABLE } from './engine-process.js';
import type { InstanceFolder } from './instance-folder.js';
import type { PortReservations } from './port-reservations.js';
import { START_SCRIPT } from './start-script.js';

/** Where a test may hold or kill a process that provisions. */
export type ProvisionPoint = 'provision.before_spawn' | 'provision.after_spawn' | 'provision.after_claim';

export interface EngineStartOptions {
  shell: string;
  cwd: string;
  environment: Record<string, string>;
  maxLogBytes: number;
  bootId: string;
  pausePoint?: (name: ProvisionPoint) => Promise<void>;
}

/** From spawn to the claim that the new process writes; it takes milliseconds on an idle host. */
export const CLAIM_DEADLINE_MS = 10_000;

/** Spawns the process that will claim a generation and, if it wins, become the engine. */
export class EngineStarter {
  /** Exits of this process's own children that are not written down yet. */
  private readonly exits = new Map<string, Promise<void>>();

  constructor(
    private readonly options: EngineStartOptions,
    private readonly ports: PortReservations,
  ) {}

  /** Returns when some process has claimed the generation, ours or another worker's. */
  async start(spec: InstanceSpec, folder: InstanceFolder, commandLine: (port: number) => string[]): Promise<void> {
    const { instanceId, generation } = spec;
    const { pausePoint, maxLogBytes } = this.options;
    await boundLogs(folder.path, maxLogBytes);
    const port = await this.ports.reserve();
    await pausePoint?.('provision.before_spawn');
    const outcome = await this.spawn(spec, folder, port, commandLine(port));
    await pausePoint?.('provision.after_spawn');

    const deadline = Date.now() + CLAIM_DEADLINE_MS;
    for (;;) {
      // Read before the look at the file: a process may claim and end between the two.
      const { hasEnded, failure } = outcome;
      if ((await folder.readClaim(generation)) !== undefined) break;
      if (failure) throw failure;
      if (hasEnded) throw new Error(`the process for ${instanceId} ended before it claimed generation ${generation}`);
      if (Date.now() > deadline)
        throw new Error(`the process for ${instanceId} did not claim generation ${generation} in time`);
      await new Promise((done) => setTimeout(done, 4));
    }
    await pausePoint?.('provision.after_claim');
  }

  /** Resolves when the exit of a child of this process has been written down; at once for anybody else's. */
  async exitNoted(instanceId: string, generation: number): Promise<void> {
    await this.exits.get(`${instanceId}/${generation}`);
  }

  private async spawn(spec: InstanceSpec, folder: InstanceFolder, port: number, command: string[]) {
    const { instanceId, generation } = spec;
    const { shell, cwd, environment, bootId } = this.options;
    const outcome: { hasEnded: boolean; failure?: Error } = { hasEnded: false };
    const logs = await openLogs(folder.path);
    try {
      const script = ['-c', START_SCRIPT, 'slipway-start', folder.path, String(generation), String(port), bootId];
      const child = spawn(shell, [...script, ...command], {
        cwd,
        detached: true,
        env: {
          ...environment,
          ...spec.runtime.env,
          [INSTANCE_VARIABLE]: instanceId,
          SLIPWAY_INSTANCE_GENERATION: String(generation),
        },
        stdio: ['ignore', logs.stdout.fd, logs.stderr.fd],
      });
      child.unref();
      child.once('error', (error) => {
        outcome.failure = error;
      });
      const key = `${instanceId}/${generation}`;
      const noted = new Promise<void>((done) => {
        child.once('error', () => done());
        child.once('exit', (code, signal) => {
          outcome.hasEnded = true;
          void this.noteExit(folder, generation, child.pid, code, signal).then(done);
        });
      });
      // Two calls of one process may race; whoever waits, waits for both.
      const all = Promise.all([this.exits.get(key), noted]).then(() => {
        if (this.exits.get(key) === all) this.exits.delete(key);
      });
      this.exits.set(key, all);
      return outcome;
    } finally {
      await logs.close();
    }
  }

  /** A process that lost the race to claim its generation ends as well, and has nothing to report. */
  private async noteExit(
    folder: InstanceFolder,
    generation: number,
    pid: number | undefined,
    code: number | null,
    signal: string | null,
  ): Promise<void> {
    try {
      const claim = await folder.readClaim(generation);
      if (claim?.record?.pid === pid) await folder.noteExit(generation, code, signal);
    } catch {
      // The exit code is a courtesy; that the process is gone can be seen without it.
    }
  }
}
