import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The one of an engine's further ports that is asked for its metrics. */
export const METRICS_PORT = 'metrics';

/** What an engine's process wrote about itself before it became the engine. */
export interface StartRecord {
  pid: number;
  port: number;
  /** Where it tells its metrics, if that is a port of its own. */
  metricsPort?: number;
  bootId: string;
  birth: string;
}

/**
 * What the folder says about one generation. Every fact is a file of its own that is created once and never changed, so
 * there is nothing to lock and nothing to half-write:
 *
 * - `<n>.intent`: somebody is about to start it, and how (`StartIntent`).
 * - `<n>.pid`: a process claimed it (`record`); `isTorn` when that process died while it wrote.
 * - `<n>.stop`: it must not run. The mark's age decides when SIGKILL is due, so any worker can carry on with the stop.
 * - `<n>.term`: the stop signal was delivered.
 * - `<n>.ready`: it was healthy once.
 * - `<n>.exit`: its exit code or signal, where a worker was there to see it.
 */
export interface Generation {
  generation: number;
  record?: StartRecord;
  claimedAt?: number;
  isTorn: boolean;
  stoppedAt?: number;
  wasTermed: boolean;
  wasReady: boolean;
  exit?: { code: number | null; signal: string | null };
}

/** How an engine is asked for health, and how long it may take to its first answer. */
export interface EngineProbe {
  path: string;
  timeoutSeconds: number;
}

/** How a stop begins: the signal, who gets it, and how long the engine then has until SIGKILL. */
export interface StopSignal {
  signal: NodeJS.Signals;
  to: 'leader' | 'group';
  graceSeconds?: number;
}

/** How a generation was started, for whoever looks after it: the operator's template may be another by now, or gone. */
export interface StartIntent extends EngineProbe {
  /** Absent where the template does not say: every answer counts as loading. */
  whileStarting?: 'refused' | '503' | 'either';
  /** Who may listen at its port; absent of starts of the release before: anybody. */
  listener?: 'own' | 'any';
  live?: { path?: string; intervalSeconds?: number; timeoutSeconds?: number; failureThreshold?: number };
  stop?: StopSignal;
  /** Its control group, absolute. */
  cgroup?: string;
  /** What the engine runs, as the template names it. */
  program?: string;
  /** The attempt at fetching its model that it waits for. */
  prefetch?: { id: string; attempt: number };
}

type Mark = 'stop' | 'term' | 'ready';

const FILE = /^([1-9]\d*)\.(intent|pid|stop|term|ready|exit)$/;

/** The folder of one instance. A folder that isn't there has no generations. */
export class InstanceFolder {
  constructor(readonly path: string) {}

  async create(): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
  }

  /** Newest first. */
  async generations(): Promise<Generation[]> {
    const names = await readdir(this.path).catch(missingAs<string[]>([]));
    const files = new Map<number, Set<string>>();
    for (const name of names) {
      const [, number, kind] = FILE.exec(name) ?? [];
      if (number === undefined) continue;
      const kinds = files.get(Number(number)) ?? new Set();
      files.set(Number(number), kinds.add(kind));
    }
    const numbers = [...files.keys()].sort((a, b) => b - a);
    return Promise.all(numbers.map((number) => this.generation(number, files.get(number)!)));
  }

  private async generation(generation: number, kinds: ReadonlySet<string>): Promise<Generation> {
    const claim = kinds.has('pid') ? await this.readClaim(generation) : undefined;
    return {
      generation,
      record: claim?.record,
      claimedAt: claim?.claimedAt,
      isTorn: claim !== undefined && claim.record === undefined,
      stoppedAt: kinds.has('stop') ? await this.ageOf(`${generation}.stop`) : undefined,
      wasTermed: kinds.has('term'),
      wasReady: kinds.has('ready'),
      exit: kinds.has('exit') ? await this.readExit(generation) : undefined,
    };
  }

  /** The claim alone; undefined while no process has made one. */
  async readClaim(generation: number): Promise<{ record?: StartRecord; claimedAt: number } | undefined> {
    const name = `${generation}.pid`;
    const text = await readFile(join(this.path, name), 'utf8').catch(missingAs(undefined));
    const claimedAt = await this.ageOf(name);
    if (text === undefined || claimedAt === undefined) return undefined;
    const [pid, , port, bootId, birth, metrics, end] = text.split('\n');
    if (metrics === undefined) return { claimedAt };
    const record = { pid: Number(pid), port: Number(port), bootId, birth: birth.trim() };
    // A number that is cut off would be another port.
    const isWhole = metrics !== '' && end !== undefined;
    return { claimedAt, record: { ...record, ...(isWhole && { metricsPort: Number(metrics) }) } };
  }

  private async readExit(generation: number): Promise<Generation['exit']> {
    const text = await readFile(join(this.path, `${generation}.exit`), 'utf8').catch(missingAs(''));
    const [, code, signal] = /^(\S+) (\S+)\n$/.exec(text) ?? [];
    if (code === undefined) return undefined;
    return { code: code === '-' ? null : Number(code), signal: signal === '-' ? null : signal };
  }

  private async ageOf(name: string): Promise<number | undefined> {
    return (await stat(join(this.path, name)).catch(missingAs(undefined)))?.mtimeMs;
  }

  /** Idempotent: the first mark stays, with its time. Does nothing when the folder is gone. */
  async mark(generation: number, mark: Mark): Promise<void> {
    await this.createOnce(`${generation}.${mark}`, '');
  }

  /** Again by whoever starts it after somebody who died: what counts is how it was started in the end. */
  async intend(generation: number, intent: StartIntent): Promise<void> {
    await writeFile(join(this.path, `${generation}.intent`), JSON.stringify(intent), { mode: 0o600 }).catch(
      missingAs(undefined),
    );
  }

  /** Undefined where an older version started it, or while it is written. */
  async readIntent(generation: number): Promise<StartIntent | undefined> {
    const text = await readFile(join(this.path, `${generation}.intent`), 'utf8').catch(missingAs(''));
    try {
      return JSON.parse(text) as StartIntent;
    } catch {
      return undefined;
    }
  }

  async noteExit(generation: number, code: number | null, signal: string | null): Promise<void> {
    await this.createOnce(`${generation}.exit`, `${code ?? '-'} ${signal ?? '-'}\n`);
  }

  async forgetExit(generation: number): Promise<void> {
    await rm(join(this.path, `${generation}.exit`), { force: true });
  }

  private async createOnce(name: string, content: string): Promise<void> {
    await writeFile(join(this.path, name), content, { flag: 'wx', mode: 0o600 }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error;
      },
    );
  }

  /**
   * Removes what is known about generations that are over. Safe only while a newer generation has files here,
   * since the highest number is what keeps a late caller from starting an old one.
   */
  async forget(generation: number): Promise<void> {
    const kinds = ['intent', 'pid', 'stop', 'term', 'ready', 'exit'];
    await Promise.all(kinds.map((kind) => rm(join(this.path, `${generation}.${kind}`), { force: true })));
  }
}

/** Where an engine that answers at `baseUrl` tells its metrics. */
export function metricsUrl(baseUrl: string, record: StartRecord | undefined): string {
  return record?.metricsPort === undefined ? baseUrl : `http://127.0.0.1:${record.metricsPort}`;
}

/** For `.catch`: a file that isn't there is `value`; any other error stays one. */
export function missingAs<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return value;
    throw error;
  };
}
