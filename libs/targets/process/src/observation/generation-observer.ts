import { type InstanceSpec, type Observation, SEARCHED_LINES, startFailure } from '@slipway/target-driver';
import type { EngineHealth } from './engine-health.js';
import { boundLogs } from '../logs/engine-log.js';
import type { EngineProcesses } from '../instances/engine-process.js';
import type { EngineStarter } from '../lifecycle/engine-start.js';
import { type EngineStopper, isBeingWritten } from '../lifecycle/engine-stop.js';
import { DEFAULT_PROBE } from '../templates/engine-template.js';
import type {
  EngineProbe,
  Generation,
  InstanceFolder,
  StartIntent,
  StartRecord,
} from '../instances/instance-folder.js';
import { loggedGenerations, readLastLines } from '../logs/log-reader.js';
import type { ModelPrefetch } from '../lifecycle/model-prefetch.js';
import { PortListeners, type PortOwner } from './port-listener.js';
import { wasShortOfMemory } from '../host/engine-cgroup.js';

interface ObserverParts {
  processes: EngineProcesses;
  starter: EngineStarter;
  stopper: EngineStopper;
  health: EngineHealth;
  prefetches: ModelPrefetch;
  maxLogBytes: number;
}

/** Finds out the state of a generation from one check of an instance's folder, its processes and its port. */
export class GenerationObserver {
  private readonly listeners: PortListeners;

  constructor(
    private readonly parts: ObserverParts,
    /** Returns the probe of an engine by its name, from the operator's current settings. */
    private readonly probeOf: (engine: string) => EngineProbe | undefined,
  ) {
    this.listeners = new PortListeners(parts.processes);
  }

  forget(instanceId: string, { path }: InstanceFolder): void {
    this.parts.health.forget(instanceId);
    this.listeners.forget(path);
  }

  async observe(spec: InstanceSpec, folder: InstanceFolder): Promise<Observation> {
    const known = await folder.generations();
    const [newest, ...older] = known;
    if (newest === undefined) return { state: 'absent' };
    if (newest.generation > spec.generation) {
      return {
        state: 'exited',
        generation: newest.generation,
        reason: 'replaced',
        message: `generation ${newest.generation} replaced this one`,
      };
    }
    if (newest.generation < spec.generation) return this.observePredecessors(known);
    // An older generation still runs only if two callers started different generations in the same instant.
    if (newest.claimedAt !== undefined && older.length > 0) await this.parts.stopper.stop(spec.instanceId, older);
    return this.observeOwn(spec, folder, newest);
  }

  /** Returns how it was started: the engine's template may have changed since, or be gone. */
  async intentOf({ generation, runtime }: InstanceSpec, folder: InstanceFolder): Promise<StartIntent> {
    const noted = await folder.readIntent(generation);
    return noted ?? this.probeOf(runtime.engine ?? '') ?? DEFAULT_PROBE;
  }

  /** Sends one request outside the regular checks. An answer counts only if the engine itself listens on its port. */
  async answers(spec: InstanceSpec, folder: InstanceFolder, baseUrl: string): Promise<boolean> {
    const intent = await this.intentOf(spec, folder);
    if (!(await this.parts.health.answers(spec, intent, baseUrl))) return false;
    const record = (await folder.readClaim(spec.generation))?.record;
    const owner = record && (await this.ownerOf(spec, folder, record, intent));
    return owner?.is !== 'foreign' && owner?.is !== 'nobody';
  }

  /**
   * Returns the newest generation that has logs or, with `previous`, the newest ended one before it. 0 means logs of
   * the previous release.
   */
  async loggedGeneration(folder: InstanceFolder, previous: boolean): Promise<number | undefined> {
    const logged = await loggedGenerations(folder.path);
    const known = await folder.generations();
    if (logged.length === 0) return known.length > 0 && !previous ? 0 : undefined;
    if (!previous) return logged[0];
    for (const generation of logged) {
      const record = known.find((one) => one.generation === generation)?.record;
      if (record === undefined || !(await this.parts.processes.isAlive(record))) return generation;
    }
    return undefined;
  }

  private async observePredecessors(known: Generation[]): Promise<Observation> {
    for (const { generation, record, stoppedAt } of known) {
      if (record === undefined || !(await this.parts.processes.isAlive(record))) continue;
      if (stoppedAt === undefined)
        return {
          state: 'absent',
          generation,
          incarnation: processIncarnation(record),
          message: `generation ${generation} is still running`,
        };
      return {
        state: 'stopping',
        generation,
        incarnation: processIncarnation(record),
        message: `generation ${generation} must end first`,
      };
    }
    return { state: 'absent' };
  }

  private async observeOwn(spec: InstanceSpec, folder: InstanceFolder, own: Generation): Promise<Observation> {
    const { generation, record } = own;
    const intent = await this.intentOf(spec, folder);
    if (record === undefined)
      return intent.prefetch ? this.observePrefetch(own, intent.prefetch) : observeUnclaimed(own);
    if (!(await this.parts.processes.isAlive(record))) {
      await this.parts.starter.exitNoted(folder, generation);
      const last = (await folder.generations()).find((each) => each.generation === generation) ?? own;
      const seen = await observeExited(last, intent, folder, this.parts.starter.secretsOf(folder, spec));
      if (seen.failure?.cause === 'model_missing' && intent.prefetch)
        await this.parts.prefetches.doubt(intent.prefetch);
      return seen;
    }
    const running = { generation, incarnation: processIncarnation(record), baseUrl: `http://127.0.0.1:${record.port}` };
    if (own.stoppedAt !== undefined) {
      await this.parts.stopper.stop(spec.instanceId, [own]);
      return { state: 'stopping', reason: 'terminated', ...running };
    }
    await boundLogs(folder.path, generation, this.parts.maxLogBytes);
    const { baseUrl } = running;
    const owner = () => this.ownerOf(spec, folder, record, intent);
    const seen = await this.parts.health.look(spec, own, { folder, intent, baseUrl, owner });
    return { ...running, ...seen, ...(seen.state === 'starting' && { progress: { phase: 'loading' } }) };
  }

  /** Whether the engine itself answers on its port; undefined if any process may listen there. */
  private async ownerOf(
    { instanceId, generation }: InstanceSpec,
    { path }: InstanceFolder,
    record: StartRecord,
    { listener, cgroup }: StartIntent,
  ): Promise<PortOwner | undefined> {
    if (listener !== 'own') return undefined;
    return this.listeners.ownerOf({ instanceId, generation, folder: path, record, cgroup });
  }

  private async observePrefetch(
    own: Generation,
    { id, attempt }: { id: string; attempt: number },
  ): Promise<Observation> {
    const plain = observeUnclaimed(own);
    if (plain.state !== 'absent') return plain;
    const fetched = await this.parts.prefetches.look(id, attempt);
    const { generation } = own;
    if (fetched.state === 'running')
      return { state: 'starting', reason: 'downloading', generation, progress: fetched.progress };
    if (fetched.state !== 'failed') return plain;
    const { failure } = fetched;
    const message = `its model could not be fetched${failure.line === undefined ? '' : `: ${failure.line}`}`;
    return {
      state: 'exited',
      generation,
      reason: failure.cause,
      lastExit: { code: failure.exit_code },
      message,
      failure,
    };
  }
}

/** The observation of a generation that no process has claimed. */
function observeUnclaimed(own: Generation): Observation {
  const { generation } = own;
  const over = { state: 'exited', generation, lastExit: { code: null } } as const;
  if (own.stoppedAt !== undefined)
    return { ...over, reason: 'terminated', message: 'it was terminated before it started' };
  if (!own.isTorn) return { state: 'absent' };
  if (isBeingWritten(own)) return { state: 'starting', reason: 'loading', generation };
  return { ...over, reason: 'start_failed', message: 'its process died while it started' };
}

/**
 * The observation of a generation whose process is gone. If it was never ready, its start failed, however it ended:
 * some engines end with 0.
 */
async function observeExited(
  own: Generation,
  intent: StartIntent | undefined,
  folder: InstanceFolder,
  secrets: readonly string[],
): Promise<Observation> {
  const { generation, exit, stoppedAt } = own;
  const how =
    exit === undefined
      ? 'its process no longer exists'
      : exit.signal
        ? `it was stopped by ${exit.signal}`
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

/** Identifies one run of the engine: another process is another incarnation. */
export function processIncarnation({ pid }: StartRecord): string {
  return String(pid);
}
