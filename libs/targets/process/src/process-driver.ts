import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  assertSpec,
  HealthHistory,
  probeHealth,
  TargetConfigError,
  type EngineDescription,
  type HealthAnswer,
  type InstanceRef,
  type InstanceSpec,
  type Observation,
  type SpecIssue,
  type TargetDriver,
} from '@slipway/target-driver';
import type { TargetConfig } from '@slipway/platform-config';
import { Agent } from 'undici';
import { boundLogs } from './engine-log.js';
import { EngineProcesses } from './engine-process.js';
import { EngineStarter, type ProvisionPoint } from './engine-start.js';
import { EngineStopper } from './engine-stop.js';
import { EngineTemplate, type EngineConfig } from './engine-template.js';
import { removeFolder } from './folder-retention.js';
import { exited, incarnationOf, unclaimed } from './generation-observation.js';
import { InstanceFolder, missingAs, type Generation } from './instance-folder.js';
import { PortReservations, type PortRange } from './port-reservations.js';

/** A target of `kind: process`: engines by name. The caller enforces `max_instances`, because it knows what may be given up. */
export type ProcessTargetConfig = TargetConfig & { engines: Record<string, EngineConfig> };

export interface ProcessDriverOptions {
  /** SLIPWAY_HOME; every worker that shares the target shares it. Instances live in `<home>/instances/<target>/<id>`. */
  home: string;
  /** Working folder of the engines, against which relative file names of a command resolve. The worker's by default. */
  cwd?: string;
  /** Environment of every engine beside what its spec sets. By default PATH, HOME and LANG; never the worker's own. */
  environment?: Record<string, string>;
  /** From SIGTERM to SIGKILL; 30 by default. */
  graceSeconds?: number;
  /** How long a terminated instance's folder with its logs is kept; 86,400 (a day) by default. */
  retainSeconds?: number;
  /** Bound of each log file; 16 MiB by default. */
  maxLogBytes?: number;
  /** Ports for engines; 20000 to 29999 by default. */
  ports?: PortRange;
  /** A POSIX shell; `/bin/sh` by default. */
  shell?: string;
  /** Named points at which a test may hold or kill the process. */
  pausePoint?: (name: ProvisionPoint) => Promise<void>;
}

const DEFAULT_READY_SECONDS = 60;
const DEFAULT_PORTS: PortRange = { from: 20_000, to: 29_999 };
const SAFE_NAME = /^[A-Za-z0-9_-]{1,128}$/;

/**
 * Runs engines as processes of this host. They are sessions of their own and outlive the worker; everything that a
 * successor needs is in the instance's folder (`instance-folder.ts`), and who may start is decided by the engine's own
 * process (`start-script.ts`).
 */
export class ProcessDriver implements TargetDriver {
  readonly kind = 'process';
  readonly adopts = false;
  readonly restarts = 'caller';
  readonly probes = 'look';
  readonly outlivesHost = false;
  readonly name: string;
  private readonly engineTemplates = new Map<string, EngineTemplate>();
  private readonly root: string;
  private readonly maxLogBytes: number;
  private readonly retainSeconds: number;
  private readonly processes = new EngineProcesses();
  private readonly starter: EngineStarter;
  private readonly stopper: EngineStopper;
  private readonly health = new HealthHistory();
  private readonly probeAgent = new Agent({ pipelining: 0 });

  /** @throws TargetConfigError naming every problem of the target's configuration. */
  constructor(config: ProcessTargetConfig, options: ProcessDriverOptions) {
    this.name = config.name;
    const home = resolve(options.home);
    for (const [name, engine] of Object.entries(config.engines))
      this.engineTemplates.set(name, new EngineTemplate(name, engine, home));
    const problems = [...this.engineTemplates.values()].flatMap((engine) => engine.problems);
    if (!SAFE_NAME.test(config.name)) problems.push('its name must consist of letters, digits, "_" and "-"');
    if (this.engineTemplates.size === 0) problems.push('it has no engines');
    if (problems.length > 0) throw new TargetConfigError(config.name, problems);

    const instances = join(home, 'instances');
    this.root = join(instances, config.name);
    this.maxLogBytes = options.maxLogBytes ?? 16 * 1024 * 1024;
    this.retainSeconds = options.retainSeconds ?? 86_400;
    this.starter = new EngineStarter(
      {
        shell: options.shell ?? '/bin/sh',
        cwd: resolve(options.cwd ?? '.'),
        environment: options.environment ?? defaultEnvironment(),
        maxLogBytes: this.maxLogBytes,
        bootId: this.processes.bootId,
        pausePoint: options.pausePoint,
      },
      // All targets of the host share it, and none can have this name.
      new PortReservations(join(instances, '.ports'), options.ports ?? DEFAULT_PORTS),
    );
    this.stopper = new EngineStopper(this.processes, options.graceSeconds ?? 30, (instanceId) =>
      this.folder(instanceId),
    );
  }

  engines(): EngineDescription[] {
    return [...this.engineTemplates.values()].map((engine) => engine.describe());
  }

  check(spec: InstanceSpec): SpecIssue[] {
    const issues: SpecIssue[] = [];
    if (!SAFE_NAME.test(spec.instanceId))
      issues.push({ field: 'instance_id', code: 'invalid_value', message: 'must match [A-Za-z0-9_-]{1,128}' });
    if (!Number.isSafeInteger(spec.generation) || spec.generation < 1) {
      issues.push({ field: 'generation', code: 'invalid_value', message: 'must be a positive integer' });
    }
    if (spec.endpoint)
      issues.push({
        field: 'endpoint',
        code: 'not_applicable',
        message: `target "${this.name}" starts its servers itself`,
      });
    if (spec.probe.path !== undefined && !isPath(spec.probe.path)) {
      issues.push({
        field: 'probes.path',
        code: 'invalid_value',
        message: 'must begin with "/" and consist of visible ASCII characters',
      });
    }
    const engine = this.engineTemplates.get(spec.runtime.engine ?? '');
    if (engine) return [...issues, ...engine.check(spec)];
    const known = [...this.engineTemplates.keys()].join(', ');
    const code = spec.runtime.engine === undefined ? 'required' : 'unknown';
    return [...issues, { field: 'runtime.engine', code, message: `target "${this.name}" has the engines: ${known}` }];
  }

  async provision(spec: InstanceSpec): Promise<void> {
    assertSpec(this, spec);
    const engine = this.engineTemplates.get(spec.runtime.engine!)!;
    const folder = this.folder(spec.instanceId);
    const known = await folder.generations();
    const newest = known.at(0);
    if (newest && newest.generation > spec.generation) return;
    const own = newest?.generation === spec.generation ? newest : undefined;
    if (own && (own.claimedAt !== undefined || own.stoppedAt !== undefined)) return;

    const older = known.filter(({ generation }) => generation < spec.generation);
    if (await this.stopper.stop(spec.instanceId, older)) return;
    await folder.create();
    await folder.mark(spec.generation, 'intent');
    await this.starter.start(spec, folder, (port) => engine.commandLine(spec, port));
    // Only now does a file of a newer generation keep late callers from starting these.
    await Promise.all(older.map(({ generation }) => folder.forget(generation)));
  }

  /** Asks no rule of `check`: what runs is observed also when the operator has since changed the target. */
  async observe(spec: InstanceSpec): Promise<Observation> {
    if (!SAFE_NAME.test(spec.instanceId)) return { state: 'absent' };
    const folder = this.folder(spec.instanceId);
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
    // Only two callers who start different generations in the same instant leave an older one running.
    if (newest.claimedAt !== undefined && older.length > 0) await this.stopper.stop(spec.instanceId, older);
    return this.observeOwn(spec, folder, newest);
  }

  async answers(spec: InstanceSpec, baseUrl: string): Promise<boolean> {
    return (await this.ask(spec, baseUrl)).healthy;
  }

  async terminate(instanceId: string): Promise<'stopping' | 'gone'> {
    this.health.forget(instanceId);
    if (!SAFE_NAME.test(instanceId)) return 'gone';
    const known = await this.folder(instanceId).generations();
    return (await this.stopper.stop(instanceId, known)) ? 'stopping' : 'gone';
  }

  async list(): Promise<InstanceRef[]> {
    const names = (await readdir(this.root).catch(missingAs<string[]>([])))
      .filter((name) => SAFE_NAME.test(name))
      .sort();
    const refs = await Promise.all(names.map((instanceId) => this.refTo(instanceId)));
    return refs.filter((ref) => ref !== undefined);
  }

  async close(): Promise<void> {
    this.stopper.close();
    await this.probeAgent.destroy();
  }

  private folder(instanceId: string): InstanceFolder {
    return new InstanceFolder(join(this.root, instanceId));
  }

  private async observePredecessors(known: Generation[]): Promise<Observation> {
    for (const { generation, record, stoppedAt } of known) {
      if (record === undefined || !(await this.processes.isAlive(record))) continue;
      if (stoppedAt === undefined)
        return {
          state: 'absent',
          generation,
          incarnation: incarnationOf(record),
          message: `generation ${generation} still runs`,
        };
      return {
        state: 'stopping',
        generation,
        incarnation: incarnationOf(record),
        message: `generation ${generation} has to end first`,
      };
    }
    return { state: 'absent' };
  }

  private async observeOwn(spec: InstanceSpec, folder: InstanceFolder, own: Generation): Promise<Observation> {
    const { generation, record } = own;
    if (record === undefined) return unclaimed(own);
    if (!(await this.processes.isAlive(record))) {
      await this.starter.exitNoted(spec.instanceId, generation);
      return exited((await folder.generations()).find((each) => each.generation === generation) ?? own);
    }
    const running = { generation, incarnation: incarnationOf(record), baseUrl: `http://127.0.0.1:${record.port}` };
    if (own.stoppedAt !== undefined) {
      await this.stopper.stop(spec.instanceId, [own]);
      return { state: 'stopping', reason: 'terminated', ...running };
    }
    await boundLogs(folder.path, this.maxLogBytes);
    return { ...running, ...(await this.probe(spec, folder, own, running.baseUrl)) };
  }

  private async probe(
    spec: InstanceSpec,
    folder: InstanceFolder,
    own: Generation,
    baseUrl: string,
  ): Promise<Pick<Observation, 'state' | 'reason' | 'message'>> {
    const answer = await this.ask(spec, baseUrl);
    const verdict = this.health.note(spec.instanceId, own.generation, answer.healthy, spec.probe.failureThreshold);
    if (answer.healthy && !own.wasReady) await folder.mark(own.generation, 'ready');
    const message = answer.message === undefined ? {} : { message: answer.message };
    if (verdict === 'ready') return { state: 'ready', ...message };
    if (own.wasReady) return { state: 'unhealthy', reason: 'probe_failed', ...message };
    const engine = this.engineTemplates.get(spec.runtime.engine ?? '');
    const timeout = spec.readyTimeoutSeconds ?? engine?.readyTimeoutSeconds ?? DEFAULT_READY_SECONDS;
    if (Date.now() - own.claimedAt! < timeout * 1000) return { state: 'starting', reason: 'loading', ...message };
    return { state: 'unhealthy', reason: 'start_timeout', message: `not ready within ${timeout} s: ${answer.message}` };
  }

  private ask({ runtime, probe }: InstanceSpec, baseUrl: string): Promise<HealthAnswer> {
    const path = probe.path ?? this.engineTemplates.get(runtime.engine ?? '')?.readyPath ?? '/health';
    return probeHealth({ url: `${baseUrl}${path}`, timeoutSeconds: probe.timeoutSeconds, dispatcher: this.probeAgent });
  }

  private async refTo(instanceId: string): Promise<InstanceRef | undefined> {
    const known = await this.folder(instanceId).generations();
    for (const { generation, record } of known) {
      if (record && (await this.processes.isAlive(record)))
        return { instanceId, generation, incarnation: incarnationOf(record) };
    }
    const open = known.find(({ stoppedAt }) => stoppedAt === undefined);
    if (open) return { instanceId, generation: open.generation };
    const lastStop = Math.max(0, ...known.map(({ stoppedAt }) => stoppedAt!));
    if (known.length > 0 && Date.now() - lastStop >= this.retainSeconds * 1000)
      await removeFolder(this.folder(instanceId), this.processes);
    return undefined;
  }
}

function isPath(text: string): boolean {
  return /^\/[\x21-\x7e]*$/.test(text);
}

/** What a program needs to find others and its caches. The worker's own environment holds secrets and stays where it is. */
function defaultEnvironment(): Record<string, string> {
  return { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: homedir(), LANG: 'C.UTF-8' };
}
