import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';

/** The shortest time that a port stays reserved, in milliseconds: a large model may take that long until it listens. */
const BUCKET_MS = 3_600_000;

/** Inclusive. The default is below the range from which Linux takes ports for outgoing connections. */
export interface PortRange {
  from: number;
  to: number;
}

/**
 * Reserves TCP ports of 127.0.0.1, none of them twice within an hour, for all processes that share the folder. A
 * reservation is a file `<port>-<hour>` that is created exclusively. A port counts as taken while this hour's or the
 * last hour's file exists. A file is deleted only when it no longer counts, so two processes never reclaim the same
 * port at once.
 * If another program takes the port meanwhile, the engine exits with EADDRINUSE and is restarted on another port.
 */
export class PortReservations {
  constructor(
    private readonly folder: string,
    private readonly range: PortRange,
  ) {}

  /** @throws Error if every port of the range is reserved or in use */
  async reserve(): Promise<number> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const hour = Math.floor(Date.now() / BUCKET_MS);
    const taken = await this.takenPorts(hour);
    const { from, to } = this.range;
    const count = to - from + 1;
    const first = randomInt(count);
    for (let offset = 0; offset < count; offset += 1) {
      const port = from + ((first + offset) % count);
      if (!taken.has(port) && (await this.claim(port, hour)) && (await isFree(port))) return port;
    }
    throw new Error(`all ports from ${from} to ${to} are in use on this host`);
  }

  private async claim(port: number, hour: number): Promise<boolean> {
    try {
      await writeFile(join(this.folder, `${port}-${hour}`), '', { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  }

  private async takenPorts(hour: number): Promise<Set<number>> {
    const taken = new Set<number>();
    for (const name of await readdir(this.folder)) {
      const [port, since] = name.split('-').map(Number);
      if (since >= hour - 1) taken.add(port);
      else await rm(join(this.folder, name), { force: true });
    }
    return taken;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const probe = createServer();
    probe.once('error', () => done(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => done(true)));
  });
}
