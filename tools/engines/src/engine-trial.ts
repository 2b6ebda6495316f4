import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InstanceSpec, Observation, TargetDriver } from '@slipway/target-driver';
import {
  checksOf,
  isQualified,
  runCheck,
  type CallableServer,
  type ServerFindings,
} from '@slipway/target-driver/qualification';
import { ProcessDriver, type ProcessTargetConfig } from '@slipway/target-process';
import { Agent } from 'undici';
import { memoryOf, metricsOf } from './engine-measures.js';
import type { ChosenEngine } from './engine-choice.js';
import type { TryOptions } from './options.js';

const LOOK_MS = 100;
const LOG_LINES = 40;
/** Longer than the engine's own grace period. A person must check what is still running then. */
const STOP_LIMIT_MS = 300_000;

export interface TrialHost {
  home: string;
  say(line: string): void;
  /** Ends the trial and stops what is running. */
  signal: AbortSignal;
}

/**
 * Runs one engine from its start to its stop, and reports each observation as a line. Returns whether the engine got
 * ready and passed every check of a binding's qualification. Nothing is running any more when it returns or throws.
 */
export async function tryEngine(
  { target, secret }: ChosenEngine,
  options: TryOptions,
  host: TrialHost,
): Promise<boolean> {
  const driver = new ProcessDriver(target, { home: host.home, secret });
  const spec = specOf(driver, options);
  const issues = driver.check(spec).map(({ field, message }) => `${field} ${message}`);
  const needed = driver.traits(spec)?.gpus?.min ?? 0;
  if (options.gpus.length < needed) issues.push(`--gpus must name at least ${needed}, as in --gpus 0`);
  for (const issue of issues) host.say(`refused: ${issue}`);
  try {
    if (issues.length > 0) return false;
    return await new Trial(driver, target, spec, host).run();
  } finally {
    await driver.close();
  }
}

function specOf(driver: ProcessDriver, { engine, model, args, gpus }: TryOptions): InstanceSpec {
  const spec: InstanceSpec = {
    instanceId: 'trial',
    generation: 1,
    model,
    runtime: { engine, args, env: {} },
    probe: { intervalSeconds: 1, timeoutSeconds: 2, failureThreshold: 3 },
    devices: gpus.map((index) => ({ uuid: `index-${index}`, index })),
    instanceKey: randomBytes(32).toString('base64url'),
  };
  const timeoutSeconds = driver.traits(spec)?.live?.timeoutSeconds ?? spec.probe.timeoutSeconds;
  return { ...spec, probe: { ...spec.probe, timeoutSeconds } };
}

class Trial {
  private readonly startedAt = performance.now();

  constructor(
    private readonly driver: ProcessDriver,
    private readonly target: ProcessTargetConfig,
    private readonly spec: InstanceSpec,
    private readonly host: TrialHost,
  ) {}

  async run(): Promise<boolean> {
    try {
      await this.driver.provision(this.spec);
      this.phase('started');
      const ready = await this.untilReady();
      return ready !== undefined && (await this.qualify(ready));
    } catch (error) {
      if (!this.host.signal.aborted) this.host.say(`failed: ${(error as Error).message}`);
      return false;
    } finally {
      await this.stop();
    }
  }

  /** Undefined if the start failed; the reason has been reported then. */
  private async untilReady(): Promise<Observation | undefined> {
    let last = '';
    for (;;) {
      this.host.signal.throwIfAborted();
      const seen = await this.driver.observe(this.spec);
      if (seen.state === 'ready') {
        this.phase('ready');
        return seen;
      }
      if (seen.state === 'exited' || seen.state === 'unhealthy') {
        await this.tellFailure(seen);
        return undefined;
      }
      const now = progressOf(seen);
      if (now !== last) this.phase(now);
      last = now;
      await sleep(LOOK_MS);
    }
  }

  private async tellFailure({ state, reason, message, failure }: Observation): Promise<void> {
    const { say } = this.host;
    this.phase(`${state}${message === undefined ? '' : `: ${message}`}`);
    const cause = failure?.cause ?? reason;
    if (cause !== undefined) say(`cause: ${cause}`);
    if (failure) say(`what to do: ${failure.remediation}`);
    const options = {
      tail: LOG_LINES,
      stream: 'both',
      previous: false,
      follow: false,
      signal: this.host.signal,
    } as const;
    say('last lines of its output:');
    for await (const { text } of this.driver.logs(this.spec.instanceId, options)) say(`  ${text}`);
  }

  private async qualify({ baseUrl, incarnation }: Observation): Promise<boolean> {
    const { say, signal } = this.host;
    const traits = this.driver.traits(this.spec);
    const dispatcher = new Agent();
    const target: CallableServer = {
      baseUrl: baseUrl as string,
      model: this.spec.model.id,
      credential: this.spec.instanceKey,
      dispatcher,
    };
    const checks: { name: string; result: string }[] = [];
    let found: ServerFindings = {};
    try {
      for (const name of checksOf(traits)) {
        const shown = await runCheck(name, { target, traits, signal });
        say(`${MARK[shown.result]} ${name}: ${shown.message} (${shown.durationMs} ms)`);
        checks.push({ name, result: shown.result });
        found = { ...shown.found, ...found };
        if (shown.isSilent) break;
      }
      this.tellFound(found, traits?.unknownModel);
      const { metrics } = this.target.engines[this.spec.runtime.engine as string]!;
      if (metrics) for (const line of await metricsOf(target, metrics, signal)) say(line);
      say(await memoryOf(Number(incarnation)));
      await this.tellDevices();
    } finally {
      await dispatcher.destroy();
    }
    const isGood = isQualified(checks);
    say(isGood ? 'qualified' : 'not qualified');
    return isGood;
  }

  private tellFound({ unknownModel, models, responseModel, hasUsage }: ServerFindings, declared = 'rejects'): void {
    const { say } = this.host;
    const difference = unknownModel === declared ? '' : ` (declared: ${declared})`;
    say(`unknown_model: ${unknownModel ?? 'unknown'}${difference}`);
    if (models) say(`models: ${models.slice(0, 20).join(', ')}${models.length > 20 ? ', …' : ''}`);
    if (responseModel !== undefined) say(`model in a response: ${responseModel}`);
    if (hasUsage !== undefined) say(`usage at the end of a stream: ${hasUsage ? 'yes' : 'no'}`);
  }

  private async tellDevices(): Promise<void> {
    const used = new Set(this.spec.devices?.map(({ index }) => index));
    if (used.size === 0) return;
    const driver: TargetDriver = this.driver;
    const { devices = [], problem } = (await driver.devices?.()) ?? {};
    if (problem !== undefined) this.host.say(`devices: ${problem}`);
    for (const { index, name, used_mb, memory_mb } of devices.filter((one) => used.has(one.index)))
      this.host.say(`device ${index}, ${name}: ${used_mb ?? '?'} of ${memory_mb ?? '?'} MiB used`);
  }

  private async stop(): Promise<void> {
    const from = performance.now();
    while ((await this.driver.terminate(this.spec.instanceId)) !== 'gone') {
      if (performance.now() - from > STOP_LIMIT_MS) {
        this.host.say('the engine does not stop: look for its remaining processes');
        return;
      }
      await sleep(LOOK_MS);
    }
    this.host.say(`stopped after ${seconds(performance.now() - from)}`);
  }

  private phase(what: string): void {
    this.host.say(`${seconds(performance.now() - this.startedAt).padStart(8)}  ${what}`);
  }
}

const MARK = { passed: '✓', failed: '✗', not_applicable: '–' } as const;

function progressOf({ reason, message, progress }: Observation): string {
  const bytes = progress?.bytes === undefined ? '' : ` ${mb(progress.bytes)} of ${mb(progress.total_bytes)} MB`;
  return `${progress?.phase ?? reason ?? 'starting'}${bytes}${message === undefined ? '' : `: ${message}`}`;
}

const mb = (bytes: number | undefined): string => (bytes === undefined ? '?' : String(Math.round(bytes / 1e6)));
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
