import { open, readdir, readFile, readlink } from 'node:fs/promises';
import type { ProcessOwner, EngineProcesses } from '../instances/engine-process.js';

/**
 * More than the listeners of any host need. The kernel lists them before the connections, of which there may be many.
 */
const MAX_TABLE_BYTES = 4 * 1024 * 1024;
/** Engines are checked concurrently and share one table. */
const TABLE_AGE_MS = 1_000;
/** If the owner is unknown, finding that out has read all processes of the host. */
const UNKNOWN_AGE_MS = 10_000;
const LISTENING = '0A';

/** The addresses that a connection to 127.0.0.1 reaches, most specific first, in the format of the kernel. */
const ADDRESSES = [
  ['0100007F', '0000000000000000FFFF00000100007F'],
  ['00000000'],
  ['00000000000000000000000000000000'],
] as const;

/**
 * The listener of a port: the engine, a foreign process (described in words), no process any more, or unknown (with the
 * reason).
 */
export type PortOwner = { is: 'own' | 'nobody' } | { is: 'foreign'; who: string } | { is: 'unknown'; why: string };

interface Listener {
  address: string;
  port: number;
  uid: string;
  inode: string;
}

/**
 * Finds out from the kernel's tables whether the engine itself listens on its port of 127.0.0.1, or whether another
 * process took the port while the engine loaded.
 */
export class PortListeners {
  private table: { at: number; listeners: Promise<Listener[]> } | undefined;
  /** The sockets that were found to belong to an engine, by its folder and generation. */
  private readonly own = new Map<string, string>();
  private readonly unknown = new Map<string, { at: number; owner: PortOwner }>();

  constructor(
    private readonly processes: EngineProcesses,
    private readonly proc = '/proc',
  ) {}

  /** Call it after an answer from the port. */
  async ownerOf(engine: ProcessOwner): Promise<PortOwner> {
    const key = keyOf(engine);
    const before = this.unknown.get(key);
    if (before && performance.now() - before.at < UNKNOWN_AGE_MS) return before.owner;
    const owner = await this.lookTwice(engine);
    if (owner.is === 'unknown') this.unknown.set(key, { at: performance.now(), owner });
    else this.unknown.delete(key);
    return owner;
  }

  private async lookTwice(engine: ProcessOwner): Promise<PortOwner> {
    const owner = await this.ownerBy(engine, TABLE_AGE_MS);
    // The engine may have begun to listen after the table was read.
    return owner.is === 'own' ? owner : this.ownerBy(engine, 0);
  }

  private async ownerBy(engine: ProcessOwner, maxAgeMs: number): Promise<PortOwner> {
    const all = await this.listeners(maxAgeMs);
    if (all.length === 0) return { is: 'unknown', why: 'the host does not show which process listens' };
    const listeners = at(engine.record.port, all);
    if (listeners === undefined) return { is: 'nobody' };
    const key = keyOf(engine);
    const sockets = listeners.map(({ inode }) => inode).join();
    if (this.own.get(key) === sockets) return { is: 'own' };
    const owner = await this.judged(engine, listeners);
    if (owner.is === 'own') this.own.set(key, sockets);
    return owner;
  }

  forget(folder: string): void {
    for (const known of [this.own, this.unknown])
      for (const key of known.keys()) if (key.startsWith(`${folder}/`)) known.delete(key);
  }

  private async judged(engine: ProcessOwner, listeners: readonly Listener[]): Promise<PortOwner> {
    const owned = await Promise.all((await this.processes.belonging(engine)).map((pid) => this.socketsOf(pid)));
    const foreign = listeners.find(({ inode }) => !owned.some((sockets) => sockets?.has(inode)));
    if (foreign === undefined) return { is: 'own' };
    if (owned.includes(undefined)) return { is: 'unknown', why: 'the open files of its processes cannot be read' };
    return { is: 'foreign', who: await this.nameOf(foreign) };
  }

  private async nameOf({ inode, uid }: Listener): Promise<string> {
    for (const name of await readdir(this.proc)) {
      if (!/^\d+$/.test(name) || !(await this.socketsOf(Number(name)))?.has(inode)) continue;
      const program = await readFile(`${this.proc}/${name}/comm`, 'utf8').catch(() => '');
      return `process ${name} (${program.replace(/[^\w.:@-]/g, '')})`;
    }
    return `a process of user ${uid}`;
  }

  /** Returns inodes; undefined if they cannot be read. A process that has ended has none. */
  private async socketsOf(pid: number): Promise<Set<string> | undefined> {
    const folder = `${this.proc}/${pid}/fd`;
    const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => (isGone(error) ? [] : undefined));
    if (names === undefined) return undefined;
    const targets = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')));
    return new Set(targets.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []));
  }

  private listeners(maxAgeMs: number): Promise<Listener[]> {
    const now = performance.now();
    if (this.table && now - this.table.at < maxAgeMs) return this.table.listeners;
    const tables = ['tcp', 'tcp6'].map((name) => readTable(`${this.proc}/net/${name}`));
    const listeners = Promise.all(tables).then((all) => all.flat());
    this.table = { at: now, listeners };
    return listeners;
  }
}

function keyOf({ folder, generation }: ProcessOwner): string {
  return `${folder}/${generation}`;
}

function at(port: number, listeners: readonly Listener[]): Listener[] | undefined {
  const here = listeners.filter((one) => one.port === port);
  return ADDRESSES.map((same) => here.filter(({ address }) => (same as readonly string[]).includes(address))).find(
    ({ length }) => length > 0,
  );
}

function isGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'ESRCH';
}

/** Returns the listening rows of proc_net_tcp(5); none if there is no such table. */
async function readTable(path: string): Promise<Listener[]> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return [];
  const chunks: Buffer[] = [];
  try {
    let bytes = 0;
    for await (const chunk of file.createReadStream() as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_TABLE_BYTES) break;
    }
  } catch {
    return [];
  } finally {
    await file.close().catch(() => undefined);
  }
  const rows = Buffer.concat(chunks).toString('latin1').split('\n').slice(1);
  return rows.flatMap((row) => {
    const [, local, , state, , , , uid, , inode] = row.trim().split(/\s+/);
    const [address, port] = local?.split(':') ?? [];
    if (state !== LISTENING || inode === undefined) return [];
    return [{ address: address!, port: Number.parseInt(port!, 16), uid: uid!, inode }];
  });
}
