import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EngineProcesses } from './engine-process.js';

let child: ChildProcess;
let lstart: string;
beforeAll(async () => {
  child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(child.pid)], {
    env: { LC_ALL: 'C', PATH: process.env.PATH },
  });
  lstart = stdout.trim();
});
afterAll(() => void child.kill('SIGKILL'));

describe('on a host without /proc', () => {
  const processes = new EngineProcesses('/no/such/proc');
  const record = (overrides = {}) => ({ pid: child.pid!, port: 1, bootId: '', birth: lstart, ...overrides });

  it('identifies a process by its pid and the start time from ps', async () => {
    expect(await processes.isAlive(record())).toBe(true);
    expect(await processes.isAlive(record({ birth: 'Thu Jan  1 00:00:00 1970' }))).toBe(false);
  });
  it('counts a record from before a reboot, and an unused pid, as dead', async () => {
    expect(await processes.isAlive(record({ bootId: 'another' }))).toBe(false);
    expect(await processes.isAlive(record({ pid: 2 ** 30 }))).toBe(false);
  });
  it('finds no processes that belong to a dead leader', async () => {
    const own = { instanceId: 'inst_1', generation: 1, folder: '/nowhere', record: record({ pid: 2 ** 30 }) };
    expect(await processes.killAll(own)).toBe(false);
  });
});

(process.platform === 'linux' ? describe : describe.skip)('on Linux', () => {
  it('counts a zombie as dead', async () => {
    // The parent becomes a program that never collects the exit of the child it inherited.
    const parent = spawn('/bin/sh', ['-c', 'sleep 60 & echo $!; exec sleep 61']);
    try {
      const pid = Number(await new Promise((done) => parent.stdout.once('data', done)));
      const readUntil = async (path: string, part: string) => {
        const end = Date.now() + 5_000;
        for (;;) {
          const text = await readFile(path, 'utf8');
          if (text.includes(part) || Date.now() > end) return text;
        }
      };
      await readUntil(`/proc/${parent.pid}/cmdline`, 'sleep\x0061');
      process.kill(pid, 'SIGKILL');
      const stat = await readUntil(`/proc/${pid}/stat`, ') Z ');
      expect(stat).toContain(') Z ');
      const processes = new EngineProcesses();
      const birth = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
      expect(await processes.isAlive({ pid, port: 1, bootId: processes.bootId, birth })).toBe(false);
    } finally {
      parent.kill('SIGKILL');
    }
  });
});
