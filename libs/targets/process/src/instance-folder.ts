import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What an engine's process wrote about itself before it became the engine. */
export interface StartRecord {
  pid: number;
  port: number;
  bootId: string;
  birth: string;
}

/**
 * What the folder says about one generation. Every fact is a file of its own that is created once and never changed, so
 * there is nothing to lock and nothing to half-write:
 *
 * - `<n>.intent`: somebody is about to start it.
 * - `<n>.pid`: a process claimed it (`record`); `isTorn` when that process died while it wrote.
 * - `<n>.stop`: it must not run. The mark's age decides when SIGKILL is due, so any worker can carry on with the stop.
 * - `<n>.term`: SIGTERM was delivered.
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

type Mark = 'intent' | 'stop' | 'term' | 'ready';

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
    const [pid, , port, bootId, birth, end] = text.split('\n');
    if (end === undefined) return { claimedAt };
    return { claimedAt, record: { pid: Number(pid), port: Number(port), bootId, birth: birth.trim() } };
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

  async noteExit(generation: number, code: number | null, signal: string | null): Promise<void> {
    await this.createOnce(`${generation}.exit`, `${code ?? '-'} ${signal ?? '-'}\n`);
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

/** For `.catch`: a file that isn't there is `value`; any other error stays one. */
export function missingAs<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return value;
    throw error;
  };
}
