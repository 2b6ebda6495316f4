import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  assertSpec,
  SAFE_NAME,
  type CallableServer,
  type EngineDescription,
  type EngineLoad,
  type EngineTraits,
  type InstanceRef,
  type LogLine,
  type LogOptions,
  type InstanceSpec,
  type Observation,
  type StartPreparation,
  type InstanceSpecIssue,
  type TargetDriver,
  type UnitLocation,
  type UnknownUnits,
} from '@slipway/target-driver';
import type { TargetConfig } from '@slipway/platform-config';
import { DeviceInventory, type DevicesConfig, type Inventory } from './devices/device-inventory.js';
import type { EngineCgroups } from './host/engine-cgroup.js';
import { EngineHealth } from './observation/engine-health.js';
import { hostCgroups, isolationNotes, usersOf } from './lifecycle/engine-isolation.js';
import { EngineProcesses } from './instances/engine-process.js';
import { EngineStarter, type ProvisionPoint } from './lifecycle/engine-start.js';
import { EngineStopper, removeFolder } from './lifecycle/engine-stop.js';
import type { EngineConfig } from './templates/engine-config.js';
import { readTemplates, type EngineTemplate, processInstanceIssues } from './templates/engine-template.js';
import type { EngineUser } from './host/engine-user.js';
import { missingOnHost } from './host/programs.js';
import { processIncarnation, GenerationObserver } from './observation/generation-observer.js';
import { InstanceFolder, metricsUrl, missingAs, type StartIntent } from './instances/instance-folder.js';
import { followLog, readLog } from './logs/log-reader.js';
import { ModelPrefetch } from './lifecycle/model-prefetch.js';
import { FormerFolders, unknownFolders } from './instances/former-folders.js';
import { PortReservations, type PortRange } from './lifecycle/port-reservations.js';
import { homedir } from 'node:os';

/**
 * A target of `kind: process`: engines by name. The caller enforces `max_instances`, because it knows which instances
 * it can stop.
 */
export type ProcessTargetConfig = TargetConfig & {
  engines: Record<string, EngineConfig>;
  /** Accelerators of the host; `auto` by default. */
  devices?: DevicesConfig;
};

const DEFAULT_PORTS: PortRange = { from: 20_000, to: 29_999 };

/**
 * Runs engines as processes of this host. They have sessions of their own and outlive the worker. Everything that a
 * successor needs is in the instance's folder (`instance-folder.ts`), and the engine's own process decides whether it
 * may start (`start-script.ts`).
 */
export class ProcessDriver implements TargetDriver {
  readonly kind = 'process';
  readonly adopts = false;
  readonly restarts = 'caller';
  readonly probes = 'look';
  readonly outlivesHost = false;
  readonly name: string;
  private engineTemplates: ReadonlyMap<string, EngineTemplate>;
  private devicesConfig: DevicesConfig;
  private readonly inventory: DeviceInventory;
  private users: ReadonlyMap<string, EngineUser>;
  private readonly starts: boolean;
  private readonly home: string;
  private readonly root: string;
  private readonly maxLogBytes: number;
  private readonly retainSeconds: number;
  private readonly processes = new EngineProcesses();
  private readonly starter: EngineStarter;
  private readonly stopper: EngineStopper;
  private readonly prefetches: ModelPrefetch;
  private readonly engineHealth = new EngineHealth();
  private readonly observer: GenerationObserver;
  private readonly cgroups: EngineCgroups | undefined;
  private readonly surroundings: { cwd: string; path: string };
  private readonly former: FormerFolders;

  /** @throws TargetConfigError that names every problem of the target's configuration */
  constructor(config: ProcessTargetConfig, options: ProcessDriverOptions) {
    this.name = config.name;
    this.home = resolve(options.home);
    this.starts = options.starts ?? true;
    this.cgroups = options.cgroups === false || !this.starts ? undefined : hostCgroups();
    this.engineTemplates = readTemplates(config, this.home);
    this.devicesConfig = config.devices ?? 'auto';
    this.inventory = new DeviceInventory(config.name, { path: options.toolPath ?? DEFAULT_PATH });
    this.users = this.usersOf(this.engineTemplates);
    const instances = join(this.home, 'instances');
    this.root = join(instances, config.name);
    this.former = new FormerFolders(config.name, this.home, this.processes);
    this.maxLogBytes = options.maxLogBytes ?? 16 * 1024 * 1024;
    this.retainSeconds = options.retainSeconds ?? 604_800;
    const graceSeconds = options.graceSeconds ?? 30;
    const cwd = resolve(options.cwd ?? '.');
    const environment = options.environment ?? defaultEnvironment();
    this.surroundings = { cwd, path: environment['PATH'] ?? '' };
    this.starter = new EngineStarter(
      {
        shell: options.shell ?? '/bin/sh',
        cwd,
        environment,
        maxLogBytes: this.maxLogBytes,
        bootId: this.processes.bootId,
        cgroups: this.cgroups,
        secret: options.secret,
        secretNames: () => [...this.engineTemplates.values()].flatMap(({ secretNames }) => secretNames),
        pausePoint: options.pausePoint,
      },
      // All targets of the host share this folder, and no target can have this name.
      new PortReservations(join(instances, '.ports'), options.ports ?? DEFAULT_PORTS),
    );
    this.stopper = new EngineStopper(this.processes, graceSeconds, (instanceId) => this.folder(instanceId));
    this.prefetches = new ModelPrefetch(join(instances, '.prefetch'), this.starter, this.processes, {
      maxLogBytes: this.maxLogBytes,
      graceSeconds,
      cgroups: this.cgroups,
    });
    this.observer = new GenerationObserver(
      {
        processes: this.processes,
        starter: this.starter,
        stopper: this.stopper,
        health: this.engineHealth,
        prefetches: this.prefetches,
        maxLogBytes: this.maxLogBytes,
      },
      (engine) => this.engineTemplates.get(engine)?.probe,
    );
  }

  reconfigure(config: ProcessTargetConfig): () => void {
    const templates = readTemplates(config, this.home);
    const users = this.usersOf(templates);
    return () => {
      this.engineTemplates = templates;
      this.devicesConfig = config.devices ?? 'auto';
      this.users = users;
    };
  }

  engines(): EngineDescription[] {
    return [...this.engineTemplates.values()].map((engine) => engine.describe());
  }

  warnings(): string[] {
    const templates = [...this.engineTemplates.values()];
    const notes = this.starts ? isolationNotes(templates, this.cgroups) : [];
    return [...templates.flatMap((template) => template.warnings), ...notes];
  }

  traits(spec: InstanceSpec): EngineTraits | undefined {
    return this.engineTemplates.get(spec.runtime.engine ?? '')?.traits(spec);
  }

  devices(): Promise<Inventory> {
    return this.inventory.look(this.devicesConfig);
  }

  check(spec: InstanceSpec): InstanceSpecIssue[] {
    return processInstanceIssues(this.name, this.engineTemplates, spec);
  }

  async provision(spec: InstanceSpec): Promise<void> {
    const engine = await this.engineFor(spec);
    this.former.note(spec.instanceId, spec.madeAt);
    const folder = this.folder(spec.instanceId);
    const known = await folder.generations();
    const newest = known.at(0);
    if (newest && newest.generation > spec.generation) return;
    const own = newest?.generation === spec.generation ? newest : undefined;
    if (own && (own.claimedAt !== undefined || own.stoppedAt !== undefined)) return;

    const older = known.filter(({ generation }) => generation < spec.generation);
    if (await this.stopper.stop(spec.instanceId, older)) return;
    await folder.create();
    const user = this.users.get(engine.config.user ?? '');
    const chosen = (await folder.readIntent(spec.generation))?.prefetch;
    const prefetch = await this.prefetches.choose(engine, spec, chosen);
    const intent = this.intentFor(spec, engine, prefetch);
    await folder.intend(spec.generation, intent);
    if (prefetch && !(await this.prefetches.isDone(prefetch, engine, spec, user))) return;
    await this.starter.start({
      spec,
      folder,
      portNames: engine.portNames,
      cgroup: intent.cgroup,
      user,
      launch: (allocation) => engine.launch(spec, allocation),
    });
    // Only from now on does a file of a newer generation keep late callers from starting these.
    await Promise.all(older.map(({ generation }) => folder.forget(generation)));
  }

  async prepare(spec: InstanceSpec): Promise<StartPreparation> {
    const engine = await this.engineFor(spec);
    const allocation = { port: 0, folder: this.folder(spec.instanceId).path };
    const failure = await missingOnHost(engine.needs(spec, allocation), this.surroundings);
    if (failure) return { state: 'failed', failure };
    const fetched = await this.prefetches.prepare(engine, spec, this.users.get(engine.config.user ?? ''));
    if (fetched.state === 'failed') return fetched;
    if (fetched.state === 'done') return { state: 'ready' };
    return { state: 'running', progress: fetched.state === 'running' ? fetched.progress : { phase: 'downloading' } };
  }

  /** Does not apply `check`: a running instance is observed even if the operator has since changed the target. */
  async observe(spec: InstanceSpec): Promise<Observation> {
    if (!SAFE_NAME.test(spec.instanceId)) return { state: 'absent' };
    this.former.note(spec.instanceId, spec.madeAt);
    this.former.assertVisible(spec.instanceId, spec.madeAt);
    return this.observer.observe(spec, this.folder(spec.instanceId));
  }

  async answers(spec: InstanceSpec, baseUrl: string): Promise<boolean> {
    return this.observer.answers(spec, this.folder(spec.instanceId), baseUrl);
  }

  callable(spec: InstanceSpec, baseUrl: string): CallableServer {
    return this.engineHealth.callable(spec, baseUrl);
  }

  async load(spec: InstanceSpec, baseUrl: string): Promise<EngineLoad | undefined> {
    const metrics = this.engineTemplates.get(spec.runtime.engine ?? '')?.metrics;
    if (!metrics || !SAFE_NAME.test(spec.instanceId)) return undefined;
    const claim = await this.folder(spec.instanceId)
      .readClaim(spec.generation)
      .catch(() => undefined);
    return this.engineHealth.load(metrics, metricsUrl(baseUrl, claim?.record), spec.instanceKey);
  }

  locationOf(): UnitLocation {
    return { kind: this.kind, home: this.home };
  }

  unreachable(instanceId: string, madeAt: readonly UnitLocation[]): string | undefined {
    return SAFE_NAME.test(instanceId) ? this.former.unreachable(instanceId, madeAt) : undefined;
  }

  async terminate(instanceId: string, madeAt?: readonly UnitLocation[]): Promise<'stopping' | 'gone'> {
    if (SAFE_NAME.test(instanceId)) this.former.note(instanceId, madeAt);
    this.observer.forget(instanceId, this.folder(instanceId));
    if (!SAFE_NAME.test(instanceId)) return 'gone';
    this.former.assertVisible(instanceId, madeAt);
    const known = await this.folder(instanceId).generations();
    return (await this.stopper.stop(instanceId, known)) ? 'stopping' : 'gone';
  }

  async *logs(instanceId: string, options: LogOptions): AsyncIterable<LogLine> {
    if (!SAFE_NAME.test(instanceId)) return;
    const folder = this.folder(instanceId);
    const secrets = [...(options.secrets ?? []), ...this.starter.secretsOf(folder)];
    const generation = await this.observer.loggedGeneration(folder, options.previous);
    if (generation === undefined) return;
    if (options.follow && !options.previous) yield* followLog(folder.path, generation, options, secrets);
    else yield* readLog(folder.path, generation, options, secrets);
  }

  async list(madeAt: readonly UnitLocation[] = []): Promise<InstanceRef[]> {
    await this.prefetches.sweep();
    const found = await Promise.all(
      [this.root, ...this.former.roots(madeAt)].map((root) => readdir(root).catch(missingAs<string[]>([]))),
    );
    const names = [...new Set(found.flat())].filter((name) => SAFE_NAME.test(name)).sort();
    for (const name of names) this.former.note(name, madeAt);
    const refs = await Promise.all(names.map((instanceId) => this.refTo(instanceId)));
    return refs.filter((ref) => ref !== undefined);
  }

  unknownUnits(targets: ReadonlySet<string>): Promise<UnknownUnits[]> {
    return unknownFolders(this.home, new Set([...targets, this.name]), this.processes);
  }

  async close(): Promise<void> {
    this.stopper.close();
    this.prefetches.close();
    await this.engineHealth.close();
  }

  /** @throws InvalidSpecError */
  private async engineFor(spec: InstanceSpec): Promise<EngineTemplate> {
    assertSpec(this, spec);
    const engine = this.engineTemplates.get(spec.runtime.engine!)!;
    await engine.assertModelFile(spec);
    return engine;
  }

  private usersOf(templates: ReadonlyMap<string, EngineTemplate>): ReadonlyMap<string, EngineUser> {
    return this.starts ? usersOf(this.name, templates, this.home, this.cgroups) : new Map();
  }

  private folder(instanceId: string): InstanceFolder {
    return new InstanceFolder(this.former.pathOf(instanceId) ?? join(this.root, instanceId));
  }

  private intentFor(spec: InstanceSpec, engine: EngineTemplate, prefetch: StartIntent['prefetch']): StartIntent {
    const { while: whileStarting } = engine.loading;
    const { signal, to, graceSeconds } = engine.stop;
    const cgroup = this.cgroups?.pathOf(this.folder(spec.instanceId).path, spec.generation);
    return {
      ...engine.probe,
      live: engine.traits(spec).live,
      stop: { signal, to, ...(graceSeconds === undefined ? {} : { graceSeconds }) },
      program: [engine.config.command[0] ?? []].flat()[0],
      listener: engine.config.ready?.listener ?? 'own',
      ...(whileStarting === undefined ? {} : { whileStarting }),
      ...(cgroup === undefined ? {} : { cgroup }),
      ...(prefetch === undefined ? {} : { prefetch }),
    };
  }

  private async refTo(instanceId: string): Promise<InstanceRef | undefined> {
    const known = await this.folder(instanceId).generations();
    for (const { generation, record } of known) {
      if (record && (await this.processes.isAlive(record)))
        return { instanceId, generation, incarnation: processIncarnation(record) };
    }
    const open = known.find(({ stoppedAt }) => stoppedAt === undefined);
    if (open) return { instanceId, generation: open.generation };
    const lastStop = Math.max(0, ...known.map(({ stoppedAt }) => stoppedAt!));
    if (known.length === 0 || Date.now() - lastStop < this.retainSeconds * 1000) return undefined;
    await removeFolder(this.folder(instanceId), this.processes);
    this.starter.forget(this.folder(instanceId));
    return undefined;
  }
}

export interface ProcessDriverOptions {
  /**
   * SLIPWAY_HOME, which is the same for all workers of the target. Instances are in `<home>/instances/<target>/<id>`.
   */
  home: string;
  /** Working folder of the engines, for relative file names in a command. The worker's by default. */
  cwd?: string;
  /** Environment of every engine in addition to its spec. By default PATH, HOME and LANG; never the worker's own. */
  environment?: Record<string, string>;
  /** Seconds from SIGTERM to SIGKILL; 30 by default. */
  graceSeconds?: number;
  /** Seconds for which a terminated instance's folder with its logs is kept; 604,800 (a week) by default. */
  retainSeconds?: number;
  /** The most bytes of each log file; 16 MiB by default. */
  maxLogBytes?: number;
  /** Ports for engines; 20000 to 29999 by default. */
  ports?: PortRange;
  /**
   * Folders in which programs that list devices are searched, like the variable PATH; that of the engines by default.
   */
  toolPath?: string;
  /** A POSIX shell; `/bin/sh` by default. */
  shell?: string;
  /** Whether engines get control groups of their own if the host allows it (true). */
  cgroups?: boolean;
  /**
   * Whether this process starts and stops engines (true). A process that only observes and checks needs no rights for
   * that.
   */
  starts?: boolean;
  /**
   * Returns the value of one of the operator's secrets, for `secret_env` of templates. @throws Error if there is none
   */
  secret?: (name: string) => string;
  /** Named points at which a test may pause or kill the process. */
  pausePoint?: (name: ProvisionPoint) => Promise<void>;
}

export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * The variables that a program needs to find other programs and its caches. The worker's own environment holds secrets
 * and is not passed on.
 */
export function defaultEnvironment(): Record<string, string> {
  return { PATH: DEFAULT_PATH, HOME: homedir(), LANG: 'C.UTF-8' };
}
