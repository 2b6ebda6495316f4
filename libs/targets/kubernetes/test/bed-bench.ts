import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from '@jest/globals';
import type { InstanceSpec } from '@slipway/target-driver';
import { workerRules, type GrantedAccess, type PolicyRule, type TestBed } from '@slipway/kube-testbed';
import { KubernetesDriver } from '../src/driver/kubernetes-driver.js';
import type { KubernetesDriverOptions } from '../src/driver/session.js';
import type { KubernetesTargetConfig } from '../src/target-config.js';
import { engineConfig, INSTALLATION, instanceSpec, targetConfig, until } from './driver-bench.js';

const run = promisify(execFile);

/** The drivers of tests check all rights within a second, and the server notices a new Role as fast. */
const RIGHT_MS = 20_000;

/** A namespace of a real control plane, and drivers there with the token of a worker. */
export class BedBench {
  private readonly drivers: KubernetesDriver[] = [];
  private readonly folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-driver-'));

  private constructor(
    readonly bed: TestBed,
    readonly namespace: string,
    readonly granted: GrantedAccess,
  ) {}

  /** @param rules the rights of the worker */
  static async create(bed: TestBed, labels: Record<string, string> = {}, rules = workerRules()): Promise<BedBench> {
    const namespace = await bed.namespace(labels);
    return new BedBench(bed, namespace, await bed.grant([namespace], rules));
  }

  driver(config: Partial<KubernetesTargetConfig> = {}, options: KubernetesDriverOptions = {}): KubernetesDriver {
    const host = { installation: async () => INSTALLATION, pausePoint: async () => undefined };
    const own = {
      cluster: { kubeconfig: this.granted.kubeconfig },
      namespaces: { default: this.namespace, by_tenant: {} },
      engines: { sim: this.steered() },
    };
    const driver = new KubernetesDriver(targetConfig({ ...own, ...config }), host, options);
    this.drivers.push(driver);
    return driver;
  }

  /** An engine that is healthy as `setHealthy` says, and counts its starts. */
  steered(more: Parameters<typeof engineConfig>[0] = {}) {
    const listens = ['--host', '0.0.0.0', '--port', '{port}'];
    return engineConfig({
      image: 'test/steered',
      command: ['steered', ...listens, '--healthy-file', this.healthyFile, '--start-log', this.startLog],
      ...more,
    });
  }

  spec(overrides: Partial<InstanceSpec> = {}): InstanceSpec {
    return instanceSpec({ probe: { intervalSeconds: 1, timeoutSeconds: 5, failureThreshold: 2 }, ...overrides });
  }

  /**
   * Takes one right of `tried` after the other away, and yields the driver's health message. The driver must be ok
   * again after each.
   */
  async *withoutEach(
    driver: KubernetesDriver,
    all: readonly PolicyRule[],
    tried = all,
  ): AsyncGenerator<{ right: string; message?: string }> {
    const becomes = (wanted: string) =>
      until(
        () => driver.health(),
        ({ state }) => state === wanted,
        RIGHT_MS,
      );
    for (const rule of tried)
      for (const verb of rule.verbs) {
        const left = { ...rule, verbs: rule.verbs.filter((other) => other !== verb) };
        await this.granted.allow(all.map((one) => (one === rule ? left : one)).filter(({ verbs }) => verbs.length > 0));
        const { message } = await becomes('degraded');
        yield { right: `${verb} ${rule.resources[0]}`, message };
        await this.granted.allow(all);
        await becomes('ok');
      }
  }

  /** Runs a kubectl command, as a person types it, with the rights of an administrator, and returns its output. */
  async kubectl(command: string): Promise<string> {
    const { bin, kubeconfig } = this.bed.access;
    const words = command.match(/'[^']*'|\S+/g) ?? [];
    const args = words.map((word) => word.replace(/^'(.*)'$/s, '$1'));
    expect(args.shift()).toBe('kubectl');
    const where = args.includes('-n') ? [] : ['-n', this.namespace];
    const { stdout } = await run(path.join(bin, 'kubectl'), ['--kubeconfig', kubeconfig, ...where, ...args]);
    return stdout;
  }

  setHealthy(isHealthy: boolean): void {
    if (isHealthy) writeFileSync(this.healthyFile, '');
    else rmSync(this.healthyFile, { force: true });
  }

  /** The number of started servers, which the servers write themselves. */
  starts(): number {
    try {
      return readFileSync(this.startLog, 'utf8').trim().split('\n').length;
    } catch {
      return 0;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.drivers.splice(0).map((driver) => driver.close()));
    rmSync(this.folder, { recursive: true, force: true });
  }

  private get healthyFile(): string {
    return path.join(this.folder, 'healthy');
  }

  private get startLog(): string {
    return path.join(this.folder, 'starts');
  }
}
