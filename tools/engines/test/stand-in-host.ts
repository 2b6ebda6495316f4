import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseOperatorConfig } from '@slipway/platform-config';
import type { InstanceSpec, ObservedState, Observation } from '@slipway/target-driver';
import { ProcessDriver, processTarget, type ProcessTargetConfig } from '@slipway/target-process';
import { request } from 'undici';

const STAND_INS = fileURLToPath(new URL('../stand-ins', import.meta.url));

/** Settings of a stand-in; `stand-ins/main.mjs` explains each of them. */
export interface Behaviour {
  load_ms?: number;
  load_until?: string;
  chunks?: number;
  chunk_ms?: number;
  fail?: string;
  crash_after_ms?: number;
  serves?: string[];
  models?: string[];
}

/** A host on which the stand-in of one engine is installed under the engine's own name. */
export class StandInHost {
  private driverOrNone?: ProcessDriver;

  private constructor(
    readonly engine: string,
    readonly home: string,
    readonly program: string,
  ) {}

  /**
   * @param behaviour settings for every start
   * @param isLoadingHeld whether an engine loads until `finishLoading` is called
   */
  static async create(engine: string, behaviour: Behaviour = {}, isLoadingHeld = false): Promise<StandInHost> {
    const { engine: table } = await import(`${STAND_INS}/engines/${engine}.mjs`);
    const home = await mkdtemp(join(tmpdir(), 'slipway-engines-'));
    const host = new StandInHost(engine, home, join(home, 'bin', table.program));
    await mkdir(join(home, 'bin'));
    const held = isLoadingHeld ? { load_until: host.loaded } : {};
    await writeFile(host.file, JSON.stringify({ ...behaviour, ...held }));
    const words = [process.execPath, join(STAND_INS, 'main.mjs'), engine, host.file].map((word) => `'${word}'`);
    await writeFile(host.program, `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`);
    await chmod(host.program, 0o755);
    return host;
  }

  get file(): string {
    return join(this.home, 'behaviour.json');
  }

  private get loaded(): string {
    return join(this.home, 'loaded');
  }

  async finishLoading(): Promise<void> {
    await writeFile(this.loaded, '');
  }

  /** The built-in template, found on the engine's path. `more` contains the operator's additions. */
  config(more: object = {}): ProcessTargetConfig {
    const entry = { extends: this.engine, path: [join(this.home, 'bin')], model_sources: ['/models/**'], ...more };
    const file = { targets: [{ name: 'stand-ins', kind: 'process', engines: { [this.engine]: entry } }] };
    return parseOperatorConfig(JSON.stringify(file), [processTarget]).targets[0] as ProcessTargetConfig;
  }

  driver(more: object = {}): ProcessDriver {
    this.driverOrNone ??= new ProcessDriver(this.config(more), { home: this.home, cgroups: false });
    return this.driverOrNone;
  }

  spec(overrides: Partial<InstanceSpec> = {}): InstanceSpec {
    return {
      instanceId: 'ins_1',
      generation: 1,
      model: { id: 'tiny', uri: '/models/tiny' },
      runtime: { engine: this.engine, args: {}, env: {} },
      probe: { intervalSeconds: 1, timeoutSeconds: 2, failureThreshold: 3 },
      devices: [{ uuid: 'GPU-0', index: 0 }],
      instanceKey: KEY,
      ...overrides,
    };
  }

  /** Starts the engine and polls until its state is `wanted`. Returns what was observed, without repetitions. */
  async until(wanted: ObservedState, spec = this.spec()): Promise<{ observed: Observation; states: ObservedState[] }> {
    const states: ObservedState[] = [];
    let observed!: Observation;
    await untilTrue(`${wanted}, after ${states.join(', ')}`, async () => {
      observed = await this.driver().observe(spec);
      if (states.at(-1) !== observed.state) states.push(observed.state);
      return observed.state === wanted;
    });
    return { observed, states };
  }

  async gone(instanceId = 'ins_1'): Promise<void> {
    await untilTrue('gone', async () => (await this.driver().terminate(instanceId)) === 'gone');
  }

  /** Living processes of all its starts. */
  async running(): Promise<number[]> {
    const pids = (await readFile(`${this.file}.pids`, 'utf8').catch(() => '')).split('\n').filter(Boolean).map(Number);
    const states = await Promise.all(pids.map(async (pid) => [pid, await stateOf(pid)] as const));
    return states.filter(([, state]) => state !== undefined && state !== 'Z').map(([pid]) => pid);
  }

  async dispose(): Promise<void> {
    if (this.driverOrNone) {
      await this.gone();
      await this.driverOrNone.close();
    }
    for (const pid of await this.running()) process.kill(pid, 'SIGKILL');
    await rm(this.home, { recursive: true, force: true });
  }
}

const KEY = randomBytes(32).toString('base64url');

/** Undefined if the process does not exist. */
async function stateOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return stat?.slice(stat.lastIndexOf(')') + 2).at(0);
}

/** A stream that has begun and lasts until the engine begins to exit. `rest` resolves with how it ended. */
export async function beginStream(
  baseUrl: string,
  model: string,
): Promise<{ rest: Promise<'whole' | 'cut'>; status: number }> {
  const answer = await request(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ model, messages: [], stream: true, user: 'until-exit' }),
  });
  let text = '';
  let begun!: () => void;
  const first = new Promise<void>((done) => (begun = done));
  const rest = (async () => {
    try {
      for await (const chunk of answer.body) {
        text += String(chunk);
        begun();
      }
    } catch {
      return 'cut';
    }
    return text.includes('data: [DONE]') ? 'whole' : 'cut';
  })();
  await first;
  return { rest, status: answer.statusCode };
}

/** Polls until the condition holds. */
export async function untilTrue(what: string, holds: () => Promise<boolean>, deadlineMs = 30_000): Promise<void> {
  const end = Date.now() + deadlineMs;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
