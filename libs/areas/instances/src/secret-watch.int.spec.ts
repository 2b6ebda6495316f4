import { createServer, type Server } from 'node:http';
import { rename, rm, symlink, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { backendContext, openPublished } from '@slipway/dataplane';
import { KeyRing } from '@slipway/platform-config';
import { TargetBed, until, type Process } from '../test/target-bed.js';

jest.setTimeout(60_000);

let bed: TargetBed;
let server: Server;

beforeEach(async () => {
  bed = await TargetBed.create();
  server = createServer((_request, response) => void response.end()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await bed.dispose();
});

async function published(process: Process, keyRing = bed.config.keyRing): Promise<string | undefined> {
  const sealed = (await process.published('rev_1'))[0]?.credential;
  return sealed ? openPublished(keyRing, sealed, backendContext('ten_a', 'rev_1')) : undefined;
}

const becomes = (value: string, process: Process): Promise<void> =>
  until(
    `the credential ${value}`,
    async () => (await published(process)) === value,
    () => published(process),
  );

async function adopt(worker: Process): Promise<void> {
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const endpoint = { base_url, protocol: 'openai', health_path: '/health', credential_ref: 'key' } as const;
  await worker.want('rev_1', bed.spec({}, { runtime: { target: 'adopted', args: {}, env: {} }, endpoint }));
  await worker.ready('rev_1');
}

/** As Kubernetes brings a new version of a mounted secret: a link is replaced, and no file is ever written. */
async function mount(version: string): Promise<void> {
  await writeFile(join(bed.home, version), `${version}\n`);
  await symlink(version, join(bed.home, 'key.next'));
  await rename(join(bed.home, 'key.next'), join(bed.home, 'key'));
}

it('10.8: a secret whose file was replaced is published anew, without any change of readiness', async () => {
  const worker = await bed.process('worker');
  await adopt(worker);
  expect(await published(worker)).toBe('sk-from-file');
  const before = await worker.rows('rev_1');
  for (const version of ['sk-second', 'sk-third']) {
    await mount(version);
    await becomes(version, worker);
  }
  // In place, as an operator's editor does it.
  await writeFile(join(bed.home, 'sk-third'), 'sk-fourth\n');
  await becomes('sk-fourth', worker);
  expect(await worker.rows('rev_1')).toEqual(before);
});

it('10.8: a leader that died before it published leaves nothing that needs input', async () => {
  const first = await bed.process('worker');
  await adopt(first);
  await first.close();
  await mount('sk-meanwhile');
  expect(await published(await bed.process('api'))).toBe('sk-from-file');
  const second = await bed.process('worker');
  await becomes('sk-meanwhile', second);
});

it('10.8: a file that is gone leaves gateways the credential they have, until it is back', async () => {
  const worker = await bed.process('worker');
  await adopt(worker);
  const warned = jest.spyOn(Logger.prototype, 'warn');
  await rm(join(bed.home, 'key'));
  const isNoticed = async (): Promise<boolean> =>
    warned.mock.calls.some(([said]) => String(said).includes('secret key'));
  await until('the loss to be noticed', isNoticed);
  expect(await published(worker)).toBe('sk-from-file');
  await mount('sk-back');
  await becomes('sk-back', worker);
});

it('10.8: a credential that was sealed with a lost key is published anew under the current one', async () => {
  const first = await bed.process('worker');
  await adopt(first);
  await first.close();
  const keyRing = new KeyRing(Buffer.alloc(32, 1));
  const second = await bed.process('worker', { keyRing });
  const isCurrent = async (): Promise<boolean> =>
    (await second.published('rev_1'))[0]?.credential?.startsWith(`v2.${keyRing.current.id}.`) === true;
  await until('the credential to be under the current key', isCurrent);
  expect(await published(second, keyRing)).toBe('sk-from-file');
});
