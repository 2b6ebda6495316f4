import { spawn } from 'node:child_process';
import { mkdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { InstanceSpec } from '@slipway/target-driver';
import type { EngineCgroups } from '../host/engine-cgroup.js';
import { boundLogs, openLogs, pruneLogs } from '../logs/engine-log.js';
import { FOLDER_VARIABLE, GENERATION_VARIABLE, INSTANCE_VARIABLE } from '../instances/engine-process.js';
import type { EngineLaunch, EngineAllocation } from '../templates/engine-template.js';
import { handOver, type EngineUser } from '../host/engine-user.js';
import { METRICS_PORT, type InstanceFolder } from '../instances/instance-folder.js';
import type { PortReservations } from './port-reservations.js';
import { START_SCRIPT } from './start-script.js';

/** Points at which a test may pause or kill a process that provisions. */
export type ProvisionPoint =
  'provision.before_prefetch' | 'provision.before_spawn' | 'provision.after_spawn' | 'provision.after_claim';

export interface EngineStartOptions {
  shell: string;
  cwd: string;
  environment: Record<string, string>;
  maxLogBytes: number;
  bootId: string;
  cgroups?: EngineCgroups;
  /** Returns the value of a secret of the operator's file, read at each start. */
  secret?: (name: string) => string;
  /** Returns the names of the secrets that engines of the target get. */
  secretNames?: () => readonly string[];
  pausePoint?: (name: ProvisionPoint) => Promise<void>;
}

/** One generation to start, in a folder that exists. */
export interface EngineStart {
  spec: Pick<InstanceSpec, 'instanceId' | 'generation' | 'runtime' | 'instanceKey'>;
  folder: InstanceFolder;
  portNames: readonly string[];
  /** From its intent. */
  cgroup?: string;
  user?: EngineUser;
  /** The script that the process runs; `START_SCRIPT` by default, which becomes the engine. */
  script?: string;
  launch(allocation: EngineAllocation): EngineLaunch;
}

/** The time from spawn to the claim that the new process writes, which takes milliseconds on an idle host. */
export const CLAIM_DEADLINE_MS = 10_000;

/** Variables of a spec whose values are redacted in the output of its engine. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL/i;

/** Spawns the process that will claim a generation and, if it succeeds, become the engine. */
export class EngineStarter {
  /** Exits of this process's own children that are not recorded yet. */
  private readonly exits = new Map<string, Promise<void>>();
  /** Secrets that this process has given to engines, by the engine's folder. They are kept only in memory. */
  private readonly secrets = new Map<string, string[]>();

  constructor(
    private readonly options: EngineStartOptions,
    private readonly ports: PortReservations,
  ) {}

  /** Returns when a process has claimed the generation, whether this worker or another one started it. */
  async start(start: EngineStart): Promise<void> {
    const { folder } = start;
    const { instanceId, generation } = start.spec;
    const { pausePoint, maxLogBytes } = this.options;
    await pruneLogs(folder.path, generation);
    await boundLogs(folder.path, generation, maxLogBytes);
    const allocation = await this.allocation(start);
    const launch = start.launch(allocation);
    if (start.cgroup !== undefined) await this.options.cgroups?.create(start.cgroup, launch.limits.memory_mb);
    await pausePoint?.('provision.before_spawn');
    const outcome = await this.spawn(start, launch, allocation);
    await pausePoint?.('provision.after_spawn');

    const deadline = Date.now() + CLAIM_DEADLINE_MS;
    for (;;) {
      // Read before the check of the file: a process may claim and end between the two.
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

  /** Resolves when the exit of a child of this process has been recorded; at once for a child of another process. */
  async exitNoted({ path }: InstanceFolder, generation: number): Promise<void> {
    await this.exits.get(`${path}/${generation}`);
  }

  /**
   * Returns the values to redact in the output of an instance's engine: those that this process gave it and, because
   * another process may have started it, those that engines of the target get now.
   * @param spec adds its own secrets
   */
  secretsOf({ path }: InstanceFolder, spec?: Pick<InstanceSpec, 'runtime' | 'instanceKey'>): readonly string[] {
    return [...(this.secrets.get(path) ?? []), ...this.operatorSecrets(), ...(spec ? ownSecrets(spec) : [])];
  }

  private operatorSecrets(): string[] {
    return (this.options.secretNames?.() ?? []).flatMap((name) => {
      try {
        return [this.secret(name)];
      } catch {
        // It has no value now, so no engine can have got it since its last one.
        return [];
      }
    });
  }

  forget({ path }: InstanceFolder): void {
    this.secrets.delete(path);
  }

  private async allocation({ folder, portNames, user }: EngineStart): Promise<EngineAllocation> {
    const workFolder = join(folder.path, 'work');
    await mkdir(workFolder, { recursive: true, mode: 0o700 });
    if (user) await handOver(folder.path, workFolder, user);
    const port = await this.ports.reserve();
    const ports: Record<string, number> = {};
    for (const name of portNames) ports[name] = await this.ports.reserve();
    return { port, ports, folder: workFolder };
  }

  private async spawn(start: EngineStart, launch: EngineLaunch, { port, ports }: EngineAllocation) {
    const { folder, spec, cgroup = '', user } = start;
    const { generation } = spec;
    const { shell, bootId } = this.options;
    const { nofile = '', nice = '', core_mb: coreMb } = launch.limits;
    const core = coreMb === undefined ? '' : coreMb * 2_048;
    const outcome: { hasEnded: boolean; failure?: Error } = { hasEnded: false };
    const cwd = resolve(this.options.cwd, launch.cwd ?? '.');
    // For the caller of spawn, a missing program and a missing folder give the same error.
    if (!(await isFolder(cwd))) throw new Error(`its working folder ${cwd} does not exist`);
    const logs = await openLogs(folder.path, generation);
    try {
      const metrics = ports?.[METRICS_PORT] ?? '';
      const about = [folder.path, generation, port, bootId, cgroup, nofile, core, nice, metrics].map(String);
      const script = ['-c', start.script ?? START_SCRIPT, 'slipway-start', ...about];
      const child = spawn(shell, [...script, ...(user?.prefix ?? []), ...launch.command], {
        cwd,
        detached: true,
        env: this.environmentOf(start, launch),
        stdio: ['ignore', logs.stdout.fd, logs.stderr.fd],
      });
      child.unref();
      child.once('error', (error) => {
        outcome.failure = error;
      });
      const key = `${folder.path}/${generation}`;
      const noted = new Promise<void>((done) => {
        child.once('error', () => done());
        child.once('exit', (code, signal) => {
          outcome.hasEnded = true;
          void this.noteExit(folder, generation, child.pid, code, signal).then(done);
        });
      });
      // Two calls of one process may race; a caller that waits must wait for both.
      const all = Promise.all([this.exits.get(key), noted]).then(() => {
        if (this.exits.get(key) === all) this.exits.delete(key);
      });
      this.exits.set(key, all);
      return outcome;
    } finally {
      await logs.close();
    }
  }

  private environmentOf({ spec, folder }: EngineStart, launch: EngineLaunch): Record<string, string> {
    const secrets = Object.entries(launch.secretEnv).map(([variable, name]) => [variable, this.secret(name)] as const);
    this.secrets.set(folder.path, [...secrets.map(([, value]) => value), ...ownSecrets(spec)]);
    const environment: Record<string, string> = {
      ...this.options.environment,
      ...launch.env,
      ...Object.fromEntries(secrets),
      ...spec.runtime.env,
    };
    const path = [...launch.path, environment['PATH'] ?? ''].filter((part) => part !== '').join(':');
    return {
      ...environment,
      ...(path === '' ? {} : { PATH: path }),
      [INSTANCE_VARIABLE]: spec.instanceId,
      [GENERATION_VARIABLE]: String(spec.generation),
      [FOLDER_VARIABLE]: folder.path,
    };
  }

  private secret(name: string): string {
    if (!this.options.secret) throw new Error(`secret ${name} of the operator's file cannot be read here`);
    return this.options.secret(name);
  }

  /** A process that failed to claim its generation also ends, and has nothing to record. */
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
      // The exit code is optional: the end of the process can be seen without it.
    }
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

/** The values of a spec that its engine gets and must not be shown. */
function ownSecrets({ runtime, instanceKey }: Pick<InstanceSpec, 'runtime' | 'instanceKey'>): string[] {
  const named = Object.entries(runtime.env).filter(([name]) => SECRET_NAME.test(name));
  return [...named.map(([, value]) => value), ...(instanceKey === undefined ? [] : [instanceKey])];
}
