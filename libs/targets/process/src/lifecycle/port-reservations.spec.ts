import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { PortReservations } from './port-reservations.js';

let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'slipway-ports-')), '.ports');
});
afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

const HOUR = 3_600_000;
const thisHour = () => Math.floor(Date.now() / HOUR);

it('reserves no port twice for any caller, until none is left', async () => {
  const range = { from: 18_100, to: 18_119 };
  const callers = [new PortReservations(folder, range), new PortReservations(folder, range)];
  const ports = await Promise.all(Array.from({ length: 20 }, (_, index) => callers[index % 2].reserve()));
  expect(new Set(ports).size).toBe(20);
  await expect(callers[0].reserve()).rejects.toThrow('all ports from 18100 to 18119 are in use on this host');
});

it('skips a port that another program uses', async () => {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await expect(new PortReservations(folder, { from: port, to: port }).reserve()).rejects.toThrow('all ports from');
  await new Promise((done) => server.close(done));
});

it('keeps reservations of the last hour and removes older ones', async () => {
  const range = { from: 18_130, to: 18_131 };
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `18130-${thisHour() - 1}`), '');
  await writeFile(join(folder, `18131-${thisHour() - 2}`), '');
  expect(await new PortReservations(folder, range).reserve()).toBe(18_131);
  expect(await readdir(folder)).not.toContain(`18131-${thisHour() - 2}`);
});
