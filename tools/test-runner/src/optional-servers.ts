import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { ControlPlane, findPrograms, REQUIRE_VARIABLE } from '@slipway/kube-testbed';

export interface TestRedis {
  /** Undefined if there is none; then `note` says why, in a sentence for the reader of the test run. */
  url?: string;
  note: string;
  stop(): Promise<void>;
}

const nothing = async (): Promise<void> => undefined;

/**
 * The Redis that answers at `configured`. Otherwise a `redis-server` from the PATH, which runs until the end of the
 * tests, or none.
 */
export async function findOrStartRedis(configured: string | undefined): Promise<TestRedis> {
  if (configured && (await answers(configured)))
    return { url: configured, note: 'Redis: the one at REDIS_URL', stop: nothing };
  const complaint = configured ? 'no Redis responds at REDIS_URL' : 'REDIS_URL is not set';
  if (spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status !== 0) {
    return {
      note: `Redis: none (${complaint}, and no redis-server is on the PATH), so the tests of the Redis queue are skipped; the Postgres queue is tested.`,
      stop: nothing,
    };
  }
  return startRedis(complaint);
}

async function startRedis(complaint: string): Promise<TestRedis> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'slipway-test-redis-'));
  const port = await freePort();
  const child = spawn(
    'redis-server',
    [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--maxmemory-policy',
      'noeviction',
      '--dir',
      dir,
    ],
    { stdio: 'ignore' },
  );
  const stop = (): Promise<void> => end(child, dir);
  const url = `redis://127.0.0.1:${port}`;
  const deadline = Date.now() + 10_000;
  while (!(await answers(url))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop();
      return {
        note: 'Redis: none (redis-server is on the PATH, but failed to start), so the tests of the Redis queue are skipped.',
        stop: nothing,
      };
    }
    await delay(50);
  }
  return { url, note: `Redis: a redis-server from the PATH (${complaint})`, stop };
}

async function answers(url: string): Promise<boolean> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 2_000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = net.createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as net.AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

function end(child: ChildProcess, dir: string): Promise<void> {
  return new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  }).then(() => rmSync(dir, { recursive: true, force: true }));
}

export interface TestKubernetes {
  /** Folder of the control plane, for `SLIPWAY_TEST_KUBE`. Undefined if there is none; then `note` says why, in a sentence. */
  folder?: string;
  note: string;
  stop(): Promise<void>;
}

/**
 * Starts one Kubernetes control plane until the end of the tests, if its programs are built.
 * @throws Error if it is required and missing
 */
export async function startKubernetes(env: NodeJS.ProcessEnv): Promise<TestKubernetes> {
  const found = findPrograms(env);
  if (found.bin === undefined) {
    if (env[REQUIRE_VARIABLE] === '1') throw new Error(`${REQUIRE_VARIABLE}=1, but ${found.why}`);
    return {
      note: `Kubernetes: none (${found.why}), so the tests on a control plane are skipped; see tools/kube-testbed for how to build one.`,
      stop: nothing,
    };
  }
  const plane = await ControlPlane.start({ bin: found.bin });
  return {
    folder: plane.folder,
    note: `Kubernetes: a control plane for this run (${plane.access.server})`,
    stop: () => plane.stop(),
  };
}
