import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The engine port from which metrics are read, if the engine has several ports. */
export const METRICS_PORT = 'metrics';

/** The record that an engine's process wrote about itself before it became the engine. */
export interface StartRecord {
  pid: number;
  port: number;
  /** The port of its metrics, if that differs from its main port. */
  metricsPort?: number;
  bootId: string;
  birth: string;
}

/**
 * The state of one generation in the folder. Every fact is a file of its own that is created once and never changed, so
 * nothing needs a lock and nothing is half-written:
 *
 * - `<n>.intent`: a worker is about to start it, and how (`StartIntent`).
 * - `<n>.pid`: a process claimed it (`record`); `isTorn` if that process died while it wrote.
 * - `<n>.stop`: it must not run. The mark's age decides when SIGKILL is due, so any worker can continue the stop.
 * - `<n>.term`: the stop signal was delivered.
 * - `<n>.ready`: it was healthy once.
 * - `<n>.exit`: its exit code or signal, if a worker was there to see it.
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

/** How an engine's health is checked, and how long it may take until its first answer. */
export interface EngineProbe {
  path: string;
  timeoutSeconds: number;
}

/** How a stop begins: the signal, its receiver, and the time that the engine then has until SIGKILL. */
export interface StopSignal {
  signal: NodeJS.Signals;
  to: 'leader' | 'group';
  graceSeconds?: number;
}

/**
 * How a generation was started, for the worker that monitors it. The operator's template may have changed since, or be
 * gone.
 */
export interface StartIntent extends EngineProbe {
  /** Absent if the template does not say: every answer counts as loading. */
  whileStarting?: 'refused' | '503' | 'either';
  /** Whose processes may listen at its port. Absent for starts of the previous release: any process. */
  listener?: 'own' | 'any';
  live?: { path?: string; intervalSeconds?: number; timeoutSeconds?: number; failureThreshold?: number };
  stop?: StopSignal;
  /** Its control group, absolute. */
  cgroup?: string;
  /** The program of the engine, as the template names it. */
  program?: string;
  /** The attempt to fetch its model for which the start waits. */
  prefetch?: { id: string; attempt: number };
}

type Mark = 'stop' | 'term' | 'ready';

const FILE = /^([1-9]\d*)\.(intent|pid|stop|term|ready|exit)$/;

/** The folder of one instance. A folder that does not exist has no generations. */
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

  /** Reads only the claim; undefined if no process has made one. */
  async readClaim(generation: number): Promise<{ record?: StartRecord; claimedAt: number } | undefined> {
    const name = `${generation}.pid`;
    const text = await readFile(join(this.path, name), 'utf8').catch(missingAs(undefined));
    const claimedAt = await this.ageOf(name);
    if (text === undefined || claimedAt === undefined) return undefined;
    const [pid, , port, bootId, birth, metrics, end] = text.split('\n');
    if (metrics === undefined) return { claimedAt };
    const record = { pid: Number(pid), port: Number(port), bootId, birth: birth.trim() };
    // A truncated number would be another port.
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

  /** Idempotent: the first mark stays, with its time. Does nothing if the folder is gone. */
  async mark(generation: number, mark: Mark): Promise<void> {
    await this.createOnce(`${generation}.${mark}`, '');
  }

  /** Overwritten by a worker that starts the generation after another one died; the last start counts. */
  async intend(generation: number, intent: StartIntent): Promise<void> {
    await writeFile(join(this.path, `${generation}.intent`), JSON.stringify(intent), { mode: 0o600 }).catch(
      missingAs(undefined),
    );
  }

  /** Undefined if an older version started it, or while it is written. */
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
   * Removes the files of generations that have ended. This is safe only while a newer generation has files here,
   * because the highest number keeps a late caller from starting an old one.
   */
  async forget(generation: number): Promise<void> {
    const kinds = ['intent', 'pid', 'stop', 'term', 'ready', 'exit'];
    await Promise.all(kinds.map((kind) => rm(join(this.path, `${generation}.${kind}`), { force: true })));
  }
}

/** Returns the address of the metrics of an engine that answers at `baseUrl`. */
export function metricsUrl(baseUrl: string, record: StartRecord | undefined): string {
  return record?.metricsPort === undefined ? baseUrl : `http://127.0.0.1:${record.metricsPort}`;
}

/** For `.catch`: returns `value` if the file does not exist; rethrows any other error. */
export function missingAs<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return value;
    throw error;
  };
}
