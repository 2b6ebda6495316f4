import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import { childEnvironment } from '@slipway/platform-config';
import { startEmbeddedPostgres } from '@slipway/platform-database';
import { identifyProcess } from '../src/run-record.js';

// The launcher under test is a separate process that receives signals, so it runs the built code. The three processes
// are stand-ins that answer /readyz, send their ready message, and record what they receive.
const built = (name: string): string => new URL(`../dist/${name}.js`, import.meta.url).href;
export const FOREGROUND = { module: built('foreground'), call: 'runInForeground' };
export const DEMONSTRATION = { module: built('demonstration'), call: 'runDemonstration' };
const STAND_IN = fileURLToPath(new URL('stand-in.mjs', import.meta.url));
const NAMES = ['api', 'worker', 'gateway', 'migrate'];

function makeFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-stack-'));
  // As root, the embedded Postgres runs as another user, which must be able to enter the folder.
  chmodSync(folder, 0o755);
  return folder;
}

/** A home whose embedded Postgres was started and stopped once. Copying it is faster than initdb. */
export class HomeTemplate {
  private constructor(private readonly folder: string) {}

  static async make(): Promise<HomeTemplate> {
    const template = new HomeTemplate(makeFolder());
    const server = await startEmbeddedPostgres({ dir: template.home, flags: ['-c', 'fsync=off'] });
    await server.stop();
    const credentials = path.join(template.home, 'postgres.json');
    // Each copy chooses its own port.
    const { port: _, ...passwords } = JSON.parse(readFileSync(credentials, 'utf8')) as Record<string, unknown>;
    writeFileSync(credentials, JSON.stringify(passwords));
    return template;
  }

  /** `cp` keeps the owner of the cluster. */
  copyTo(home: string): void {
    execFileSync('cp', ['-a', `${this.home}/.`, home]);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private get home(): string {
    return path.join(this.folder, 'home');
  }
}

/** A launcher under test with its output. */
export class Launcher {
  stdout = '';
  stderr = '';
  readonly exit: Promise<number | null>;

  constructor(readonly child: ChildProcess) {
    child.stdout?.on('data', (chunk) => (this.stdout += chunk));
    child.stderr?.on('data', (chunk) => (this.stderr += chunk));
    this.exit = new Promise((resolve) => child.once('exit', resolve));
  }

  async ready(): Promise<{ api: string; gateway: string }> {
    await until(
      () => this.stdout.includes('\n') || this.child.exitCode !== null,
      () => this.stderr,
    );
    const match = /^slipway ready api=(\S+) gateway=(\S+)\n$/.exec(this.stdout);
    if (!match) throw new Error(`not the ready line: ${JSON.stringify(this.stdout)}\n${this.stderr}`);
    return { api: match[1] as string, gateway: match[2] as string };
  }

  lastLine(): string | undefined {
    return this.stderr.trim().split('\n').at(-1);
  }

  async end(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGTERM');
    await this.exit;
  }
}

/** A folder with a home, stand-ins for the processes of a stack, and their launchers. One per test. */
export class LauncherBed {
  readonly folder = makeFolder();
  readonly home = path.join(this.folder, 'home');
  readonly script = path.join(this.folder, 'launcher.mjs');
  private readonly launchers: Launcher[] = [];

  constructor() {
    for (const name of NAMES) copyFileSync(STAND_IN, path.join(this.folder, `${name}.mjs`));
  }

  async remove(): Promise<void> {
    for (const launcher of this.launchers.splice(0)) await launcher.end();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** @param wrapped the command that runs `script`; Node by default */
  launch(
    env: Record<string, string | undefined> = {},
    { module, call } = FOREGROUND,
    wrapped: [string, ...string[]] = [process.execPath, this.script],
  ): Launcher {
    const entries = Object.fromEntries(NAMES.map((name) => [name, path.join(this.folder, `${name}.mjs`)]));
    writeFileSync(
      this.script,
      `const m = await import(${JSON.stringify(module)}); await m.${call}({ entries: ${JSON.stringify(entries)}, isOnce: true });`,
    );
    const [program, ...args] = wrapped;
    const child = spawn(program, args, {
      cwd: this.folder,
      env: childEnvironment({
        SLIPWAY_HOME: this.home,
        SLIPWAY_API_PORT: '0',
        SLIPWAY_GATEWAY_PORT: '0',
        DATABASE_URL: undefined,
        REDIS_URL: undefined,
        NODE_ENV: undefined,
        NODE_OPTIONS: undefined,
        npm_lifecycle_event: undefined,
        STAND_IN_FOLDER: this.folder,
        ...env,
      }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const launcher = new Launcher(child);
    this.launchers.push(launcher);
    return launcher;
  }

  /** The lines that the stand-ins recorded: `<name> <event>`. */
  notes(): string[] {
    const file = path.join(this.folder, 'notes');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  /** The last line that begins with this text. */
  lastNote(begin: string): string {
    return this.notes().findLast((line) => line.startsWith(`${begin} `)) ?? '';
  }

  /** Expects that these lines were recorded, and in this order. */
  expectInOrder(...wanted: string[]): void {
    const lines = this.notes();
    expect(lines).toEqual(expect.arrayContaining(wanted));
    const positions = wanted.map((line) => lines.indexOf(line));
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
  }

  pidOf(name: string): number {
    const line = this.notes().findLast((one) => one.startsWith(`${name} pid `));
    return Number(line?.split(' ')[2]);
  }

  pids(): number[] {
    return ['api', 'worker', 'gateway'].map((name) => this.pidOf(name));
  }

  /** How often a process was started. */
  starts(name: string): number {
    return this.notes().filter((line) => line.startsWith(`${name} pid `)).length;
  }
}

/** Variables of a stack on the Postgres of the test run, for tests that are not about the embedded one. */
export function externalPostgres(): Record<string, string> {
  const url = process.env['TEST_PG_URL'] as string;
  return { DATABASE_URL: url, SLIPWAY_MIGRATE_DATABASE_URL: url };
}

export const isAlive = (pid: number): boolean => identifyProcess(pid) !== undefined;

export async function until(condition: () => boolean, explain: () => string = () => ''): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`the condition did not become true: ${condition}\n${explain()}`);
    await delay(20);
  }
}
