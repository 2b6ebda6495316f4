import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StartFailure, StartProgress } from '@slipway/contracts';
import { downloadProgress, type InstanceSpec, startFailure } from '@slipway/target-driver';
import { removeGroup, type EngineCgroups } from '../host/engine-cgroup.js';
import { boundLogs } from '../logs/engine-log.js';
import type { EngineProcesses } from '../instances/engine-process.js';
import type { EngineStarter } from './engine-start.js';
import { EngineStopper, isBeingWritten } from './engine-stop.js';
import type { EnginePrefetch, EngineTemplate } from '../templates/engine-template.js';
import type { EngineUser } from '../host/engine-user.js';
import { InstanceFolder, missingAs, type Generation, type StartIntent } from '../instances/instance-folder.js';
import { readLastLines } from '../logs/log-reader.js';
import { RUN_SCRIPT } from './start-script.js';

/** Old attempts are kept for starts that still wait for one and have not checked it since it ended. */
const KEPT_ATTEMPTS = 10;
const SEARCHED_LINES = 200;
/** The fetched files do not depend on the allocation. */
const NO_ALLOCATION = { port: 0, folder: '' };

type AwaitedPrefetch = NonNullable<StartIntent['prefetch']>;

/** `absent`: no process has begun the attempt. */
export type PrefetchState =
  | { state: 'absent' | 'done' }
  | { state: 'running'; progress: StartProgress }
  | { state: 'failed'; failure: StartFailure };

/**
 * Fetches models before engines start, once for each model and host, for any number of waiting instances of any number
 * of workers. A fetched model has a folder like an instance, and each attempt is a generation in it. The same
 * guarantees therefore apply: the process itself claims its attempt, and none runs twice. It writes its own exit
 * status, because the worker that began it may be gone by then.
 *
 * The attempt for which a start waits is recorded with the start. If that attempt fails, the start has failed. The next
 * start begins another attempt, or joins one that has begun.
 */
export class ModelPrefetch {
  private readonly stopper: EngineStopper;
  private readonly prepared = new Map<string, AwaitedPrefetch>();

  constructor(
    private readonly root: string,
    private readonly starter: EngineStarter,
    private readonly processes: EngineProcesses,
    private readonly limits: { maxLogBytes: number; graceSeconds: number; cgroups?: EngineCgroups },
  ) {
    this.stopper = new EngineStopper(processes, limits.graceSeconds, (id) => this.folder(id));
  }

  /**
   * Returns the attempt for which a start must wait: the one chosen before, or the newest unless that has failed.
   * Undefined for an engine that fetches nothing.
   */
  async choose(
    engine: EngineTemplate,
    spec: InstanceSpec,
    chosen: AwaitedPrefetch | undefined,
  ): Promise<AwaitedPrefetch | undefined> {
    const id = idOf(engine, spec);
    if (id === undefined) return undefined;
    if (chosen?.id === id) return chosen;
    const newest = (await this.folder(id).generations()).at(0);
    if (newest === undefined) return { id, attempt: 1 };
    const { state } = await this.look(id, newest.generation);
    return { id, attempt: state === 'failed' ? newest.generation + 1 : newest.generation };
  }

  /** Whether the start may continue. Begins the attempt if no process has. */
  async isDone(
    awaited: AwaitedPrefetch,
    engine: EngineTemplate,
    spec: InstanceSpec,
    user: EngineUser | undefined,
  ): Promise<boolean> {
    const { state } = await this.look(awaited.id, awaited.attempt);
    if (state === 'absent') await this.begin(awaited, engine, spec, user);
    return state === 'done';
  }

  /**
   * Fetches the model without a start. The attempt is remembered by `instanceId` until it has ended; a worker that has
   * forgotten it joins the newest.
   */
  async prepare(engine: EngineTemplate, spec: InstanceSpec, user: EngineUser | undefined): Promise<PrefetchState> {
    const awaited = await this.choose(engine, spec, this.prepared.get(spec.instanceId));
    if (!awaited) return { state: 'done' };
    this.prepared.set(spec.instanceId, awaited);
    const found = await this.look(awaited.id, awaited.attempt);
    if (found.state === 'absent') await this.begin(awaited, engine, spec, user);
    if (found.state === 'done' || found.state === 'failed') this.prepared.delete(spec.instanceId);
    return found;
  }

  /** Returns when a process has claimed the attempt. */
  private async begin(
    { id, attempt }: AwaitedPrefetch,
    engine: EngineTemplate,
    spec: InstanceSpec,
    user: EngineUser | undefined,
  ): Promise<void> {
    const folder = this.folder(id);
    const known = await folder.generations();
    const own = known.find(({ generation }) => generation === attempt);
    if (own?.claimedAt !== undefined || known.some(({ generation }) => generation > attempt)) return;
    // Processes that the previous attempt left would write the same files.
    const before = known.find(({ generation }) => generation < attempt);
    if (before && (await this.killRest(id, folder, before))) return;
    const cgroup = this.limits.cgroups?.pathOf(folder.path, attempt);
    const prefetch = (allocation: { port: number; folder: string }): EnginePrefetch =>
      engine.prefetch(spec, allocation)!;
    const { timeoutSeconds, command } = prefetch(NO_ALLOCATION);
    await folder.create();
    await folder.intend(attempt, {
      path: '/',
      timeoutSeconds,
      ...(command[0] === undefined ? {} : { program: command[0] }),
      ...(cgroup === undefined ? {} : { cgroup }),
    });
    await this.starter.start({
      // The variables of a revision belong to one tenant, but the fetched files are for all tenants.
      spec: { instanceId: id, generation: attempt, runtime: { args: {}, env: {} } },
      folder,
      portNames: [],
      script: RUN_SCRIPT,
      launch: prefetch,
      ...(cgroup === undefined ? {} : { cgroup }),
      ...(user === undefined ? {} : { user }),
    });
    await Promise.all(
      known
        .filter(({ generation }) => generation <= attempt - KEPT_ATTEMPTS)
        .map((one) => folder.forget(one.generation)),
    );
  }

  private async killRest(id: string, folder: InstanceFolder, { generation, record }: Generation): Promise<boolean> {
    const cgroup = (await folder.readIntent(generation))?.cgroup;
    const own = { instanceId: id, generation, folder: folder.path };
    if (record && (await this.processes.killAll({ ...own, record, ...(cgroup !== undefined && { cgroup }) })))
      return true;
    if (cgroup !== undefined) await removeGroup(cgroup);
    return false;
  }

  /** Returns the state of an attempt, and ends one that exceeds its time limit. */
  async look(id: string, attempt: number): Promise<PrefetchState> {
    const folder = this.folder(id);
    const own = (await folder.generations()).find(({ generation }) => generation === attempt);
    if (own?.claimedAt === undefined)
      return own?.stoppedAt === undefined ? { state: 'absent' } : this.failed(folder, own);
    if (own.exit?.code === 0) return { state: 'done' };
    const isRunning = own.record ? await this.processes.isAlive(own.record) : isBeingWritten(own);
    if (!isRunning) return this.ended(folder, own);
    const { timeoutSeconds = Infinity } = (await folder.readIntent(attempt)) ?? {};
    if (own.stoppedAt !== undefined || Date.now() > own.claimedAt + timeoutSeconds * 1000)
      await this.stopper.stop(id, [own]);
    await boundLogs(folder.path, attempt, this.limits.maxLogBytes);
    return { state: 'running', progress: downloadProgress(await this.lines(folder, attempt)) };
  }

  /**
   * Called if an engine did not find the files that the attempt had fetched, because they were removed since. The next
   * start fetches them again.
   */
  async doubt({ id, attempt }: AwaitedPrefetch): Promise<void> {
    await this.folder(id).forgetExit(attempt);
  }

  /** Ends attempts that exceed their time limit and for which no start waits any more. */
  async sweep(): Promise<void> {
    for (const id of await readdir(this.root).catch(missingAs<string[]>([]))) {
      const newest = (await this.folder(id).generations()).at(0);
      if (newest) await this.look(id, newest.generation);
    }
  }

  close(): void {
    this.stopper.close();
  }

  private folder(id: string): InstanceFolder {
    return new InstanceFolder(join(this.root, id));
  }

  /** The attempt may have recorded its end after its files were read. */
  private async ended(folder: InstanceFolder, { generation }: Generation): Promise<PrefetchState> {
    await this.starter.exitNoted(folder, generation);
    const own = (await folder.generations()).find((one) => one.generation === generation);
    if (own === undefined) return { state: 'absent' };
    return own.exit?.code === 0 ? { state: 'done' } : this.failed(folder, own);
  }

  private async failed(folder: InstanceFolder, { generation, exit, stoppedAt }: Generation): Promise<PrefetchState> {
    const program = (await folder.readIntent(generation))?.program;
    const end = {
      code: exit?.code ?? null,
      signal: exit?.signal ?? null,
      ...(stoppedAt === undefined ? {} : { known: 'start_timeout' as const }),
      ...(program === undefined ? {} : { program }),
    };
    return { state: 'failed', failure: startFailure(end, await this.lines(folder, generation)) };
  }

  private lines(folder: InstanceFolder, attempt: number) {
    return readLastLines(folder.path, attempt, SEARCHED_LINES, this.starter.secretsOf(folder));
  }
}

function idOf(engine: EngineTemplate, spec: InstanceSpec): string | undefined {
  const { model } = spec;
  const command = engine.prefetch(spec, NO_ALLOCATION)?.command;
  if (command === undefined) return undefined;
  const what = [engine.name, command, model.uri, model.revision];
  return createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 32);
}
