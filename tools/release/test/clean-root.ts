import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** An embedded Postgres and three processes, on a busy machine. */
const START_MS = 180_000;
const RUN_MS = 300_000;
/** How this machine reaches the registry of npm. */
const NETWORK = /^(https?_proxy|no_proxy|all_proxy|node_extra_ca_certs|npm_config_registry)$/i;

export interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

/** A person's machine on which nothing of Slipway is: a home, a prefix and caches of its own, outside the repository. */
export class CleanRoot {
  readonly dir: string;
  readonly home: string;
  private readonly running = new Set<RunningCommand>();

  constructor() {
    this.dir = mkdtempSync(path.join(os.tmpdir(), 'slipway-clean-'));
    // As root, the embedded Postgres runs as another user, which must be able to enter the folder.
    chmodSync(this.dir, 0o755);
    this.home = this.folder('home');
  }

  folder(name: string): string {
    const folder = path.join(this.dir, name);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  /** The programs of the system and its network, and nothing else of this process. @param prefix where npm installs commands */
  env(prefix?: string): Record<string, string> {
    const bins = [...(prefix ? [path.join(prefix, 'bin')] : []), path.dirname(process.execPath), '/usr/bin', '/bin'];
    const network = Object.entries(process.env).filter(([name]) => NETWORK.test(name));
    return {
      ...(Object.fromEntries(network) as Record<string, string>),
      PATH: bins.join(path.delimiter),
      HOME: this.home,
      TMPDIR: this.folder('tmp'),
      npm_config_cache: this.folder('npm-cache'),
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_update_notifier: 'false',
      ...(prefix && { npm_config_prefix: prefix }),
    };
  }

  run(
    program: string,
    args: readonly string[],
    options: { env?: NodeJS.ProcessEnv; cwd?: string; input?: string } = {},
  ) {
    const { env = this.env(), cwd = this.dir, input = '' } = options;
    return new Promise<Result>((resolve) => {
      const child = execFile(
        program,
        args,
        { cwd, env, timeout: RUN_MS, maxBuffer: 64 << 20 },
        (error, stdout, stderr) => resolve({ code: error ? Number(child.exitCode ?? 1) : 0, stdout, stderr }),
      );
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(input);
    });
  }

  /** Starts a command that runs until Ctrl-C. */
  start(program: string, args: readonly string[], env: NodeJS.ProcessEnv, cwd = this.dir): RunningCommand {
    const command = new RunningCommand(spawn(program, args, { cwd, env, detached: true, stdio: 'pipe' }));
    this.running.add(command);
    return command;
  }

  async remove(): Promise<void> {
    for (const command of this.running) await command.interrupt();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export class RunningCommand {
  stdout = '';
  stderr = '';
  private readonly exit: Promise<number | null>;

  constructor(private readonly child: ChildProcess) {
    child.stdout?.on('data', (chunk) => (this.stdout += String(chunk)));
    child.stderr?.on('data', (chunk) => (this.stderr += String(chunk)));
    this.exit = new Promise((resolve) => child.once('close', (code) => resolve(code)));
  }

  /** @returns the addresses that `slipway up` prints */
  async ready(): Promise<{ api: string; gateway: string }> {
    const deadline = Date.now() + START_MS;
    for (;;) {
      const [, api, gateway] = /^slipway ready api=(\S+) gateway=(\S+)$/m.exec(this.stdout) ?? [];
      if (api && gateway) return { api, gateway };
      if (this.child.exitCode !== null || Date.now() > deadline)
        throw new Error(`slipway up is not ready:\n${this.stdout}\n${this.stderr}`);
      await delay(50);
    }
  }

  /** Ctrl-C, as a terminal sends it: to the command and to all that it started in its group. */
  async interrupt(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.pid !== undefined) {
      try {
        process.kill(-this.child.pid, 'SIGINT');
      } catch {
        // It has just ended.
      }
    }
    return this.exit;
  }
}
