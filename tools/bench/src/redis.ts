import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './stand.js';

/**
 * Starts a separate Redis with the documented settings (no eviction, appended to a file each second), if a server is on
 * the PATH.
 */
export async function startRedis(): Promise<{ url: string; pid: number; stop(): void } | undefined> {
  const port = await freePort();
  const home = mkdtempSync(path.join(tmpdir(), 'slipway-redis-'));
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--dir', home, '--save', '', '--appendonly', 'yes'];
  const child = spawn('redis-server', [...flags, '--maxmemory-policy', 'noeviction'], { stdio: 'ignore' });
  let isGone = false;
  child.once('error', () => (isGone = true)).once('exit', () => (isGone = true));
  const stop = (): void => {
    child.kill('SIGTERM');
    rmSync(home, { recursive: true, force: true });
  };
  for (const deadline = Date.now() + 5_000; !(await answers(port)); await delay(20)) {
    if (Date.now() < deadline && !isGone) continue;
    stop();
    return undefined;
  }
  return { url: `redis://127.0.0.1:${port}`, pid: child.pid as number, stop };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}
