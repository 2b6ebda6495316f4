import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { InstanceSpec, TargetDriver } from '@slipway/target-driver';
import { ProcessDriver, type EngineConfig, type ProcessDriverOptions, type ProcessTargetConfig } from '../src/index.js';

export interface StartLine {
  instance: string;
  generation: number;
  pid: number;
  child?: number;
  argv: string[];
  env: Record<string, string>;
  cwd: string;
}

/** A start that is paused at a chosen line. */
export interface PausedStart {
  shell: string;
  /** Resolves when a process has reached that line. */
  paused(): Promise<void>;
  /** Lets it continue, and resolves when it has ended, or has become the engine that it must not become. */
  goOn(): Promise<void>;
}

/** Relative to `cwd`, as an operator would write it. */
const CWD = fileURLToPath(new URL('..', import.meta.url));

/** `engine` adds keys to those of the engine `sim`. */
export function engineConfig(engine: Partial<EngineConfig> = {}): ProcessTargetConfig {
  return {
    name: 'local',
    kind: 'process',
    engines: {
      sim: {
        command: ['node', 'test/engine.mjs', '--port', '{port}', '--model', '{model.id}'],
        args: {
          log: '--log={}',
          healthy_file: '--healthy-file={}',
          ignore_term: '--ignore-term',
          exit_code: '--exit-code={}',
          with_child: '--with-child',
          chatter: '--chatter={}',
          children: '--children={}',
          says: '--says={}',
          note_signals: '--note-signals',
          status: '--status={}',
        },
        env_allow: ['API_KEY'],
        ready: { path: '/health', timeout_seconds: 30 },
        ...engine,
      },
      missing: { command: ['no-such-program-anywhere', '{port}'] },
    },
  };
}

/** A home with engines that record their starts; `dispose` kills the remaining processes. */
export class EngineHost {
  private constructor(readonly home: string) {}

  static async create(): Promise<EngineHost> {
    return new EngineHost(await mkdtemp(join(tmpdir(), 'slipway-target-')));
  }

  readonly log = () => join(this.home, 'starts.log');
  readonly healthyFile = () => join(this.home, 'healthy');

  driver(options: Partial<ProcessDriverOptions> = {}, engine: Partial<EngineConfig> = {}): ProcessDriver {
    return new ProcessDriver(engineConfig(engine), { home: this.home, cwd: CWD, graceSeconds: 5, ...options });
  }

  spec(overrides: Partial<InstanceSpec> = {}, args: Record<string, string | number | boolean> = {}): InstanceSpec {
    return {
      instanceId: 'inst_1',
      generation: 1,
      model: { id: 'tiny' },
      runtime: { engine: 'sim', args: { log: this.log(), healthy_file: this.healthyFile(), ...args }, env: {} },
      probe: { intervalSeconds: 1, timeoutSeconds: 2, failureThreshold: 2 },
      ...overrides,
    };
  }

  async setHealthy(isHealthy: boolean): Promise<void> {
    if (isHealthy) await writeFile(this.healthyFile(), '');
    else await rm(this.healthyFile(), { force: true });
  }

  async starts(): Promise<StartLine[]> {
    const text = await readFile(this.log(), 'utf8').catch(() => '');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as StartLine);
  }

  /** The pid of the process that fetches a model. */
  async pidOfPrefetch(): Promise<number> {
    const root = join(this.home, 'instances', '.prefetch');
    const [id = ''] = await readdir(root);
    return Number((await readFile(join(root, id, '1.pid'), 'utf8')).split('\n')[0]);
  }

  /** The records of the engines' children: their pids, and the signals that they got. */
  async children(): Promise<{ pids: number[]; signals: string[] }> {
    const lines = (await readFile(`${this.log()}.children`, 'utf8').catch(() => '')).split('\n').filter(Boolean);
    return {
      pids: lines.filter((line) => line.startsWith('pid ')).map((line) => Number(line.slice(4))),
      signals: lines.filter((line) => line.startsWith('SIG')),
    };
  }

  /** Runs a separate worker that provisions `spec`, pauses at `point` and is killed there. */
  async provisionAndDieAt(
    point: string,
    spec: InstanceSpec,
    options: Partial<ProcessDriverOptions> = {},
    engine: Partial<EngineConfig> = {},
  ): Promise<void> {
    const program = join(this.home, 'provisioner.mjs');
    await writeFile(program, await provisioner());
    const orders = JSON.stringify({ point, spec, engine, options: { home: this.home, cwd: CWD, ...options } });
    const worker = spawn(process.execPath, [program, orders], {
      cwd: CWD,
      env: {},
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise<void>((done) => worker.once('exit', () => done()));
    let said = '';
    await new Promise<void>((done, fail) => {
      worker.stdout.on('data', (chunk) => {
        said += String(chunk);
        if (said.includes(`holding at ${point}`)) done();
      });
      worker.once('exit', (code) => fail(new Error(`the worker ended with ${code} before ${point}`)));
    });
    worker.kill('SIGKILL');
    await ended;
  }

  /**
   * Makes a shell for `options.shell` that pauses the process of a start: before its first line, right before it claims
   * its generation, or between the claim and the check for newer generations. `paused` resolves when a process has
   * reached that line.
   */
  async pausingShell(at: 'start' | 'claim' | 'look'): Promise<PausedStart> {
    const [file, hook, gate, paused] = ['shell', 'hook', 'gate', 'held-pid'].map((name) => join(this.home, name)) as [
      string,
      string,
      string,
      string,
    ];
    const pause = `echo $$ >| ${paused}; while [ ! -e ${gate} ]; do sleep 0.02; done`;
    // Bash runs the trap before each command of the script; `>|` and `touch`, because the script forbids overwriting
    // files.
    const before = { start: '', claim: 'printf*', look: '"[ -e"*' }[at];
    await writeFile(hook, `trap 'case $BASH_COMMAND in ${before}) ${pause};; esac' DEBUG\n`);
    const script = at === 'start' ? `${pause}\nexec /bin/sh "$@"` : `BASH_ENV=${hook} exec bash "$@"`;
    await writeFile(file, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
    const pid = async () => Number(await readFile(paused, 'utf8').catch(() => ''));
    return {
      shell: file,
      paused: () => until('the candidate is held', async () => (await pid()) > 0),
      goOn: async () => {
        await writeFile(gate, '');
        const candidate = await pid();
        const isEngine = async () => (await this.starts()).some((line) => line.pid === candidate);
        await until('the candidate has ended', async () => !(await isRunning(candidate)) || (await isEngine()));
      },
    };
  }

  /** Makes a shell that records each process for which it is started. */
  async countingShell(): Promise<{ shell: string; spawned: () => Promise<number> }> {
    const [file, log] = [join(this.home, 'counting-shell'), join(this.home, 'spawned.log')];
    await writeFile(file, `#!/bin/sh\necho $$ >> ${log}\nexec /bin/sh "$@"\n`, { mode: 0o700 });
    const spawned = async () => (await readFile(log, 'utf8').catch(() => '')).split('\n').filter(Boolean).length;
    return { shell: file, spawned };
  }

  async dispose(): Promise<void> {
    const driver: TargetDriver = this.driver({ graceSeconds: 0 });
    for (const { instanceId } of await driver.list()) {
      const end = Date.now() + 10_000;
      while ((await driver.terminate(instanceId)) !== 'gone' && Date.now() < end)
        await new Promise((done) => setTimeout(done, 20));
    }
    await driver.close();
    // An engine that is ending may still write its last line.
    await rm(this.home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

const run = promisify(execFile);

let bundle: Promise<string> | undefined;

/** The program that `provisionAndDieAt` starts, bundled once for each spec file. */
function provisioner(): Promise<string> {
  const bundler = fileURLToPath(new URL('./bundle-provisioner.mjs', import.meta.url));
  bundle ??= run(process.execPath, [bundler], { maxBuffer: 64 * 1024 * 1024 }).then(({ stdout }) => stdout);
  return bundle;
}

/** A zombie no longer runs. */
export async function isRunning(pid: number): Promise<boolean> {
  const state = existsSync('/proc/self/stat') ? await stateFromProc(pid) : await stateFromPs(pid);
  return state !== '' && !state.startsWith('Z');
}

/** The name in parentheses may contain anything. */
async function stateFromProc(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2);
}

async function stateFromPs(pid: number): Promise<string> {
  const { stdout } = await run('ps', ['-o', 'stat=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.trim();
}

/** Polls until the condition holds. */
export async function until(what: string, isTrue: () => Promise<boolean>, deadlineMs = 20_000): Promise<void> {
  const end = Date.now() + deadlineMs;
  while (!(await isTrue())) {
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
