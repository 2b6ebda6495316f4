import type { InstanceSpec } from '@slipway/target-driver';
import { KubernetesDriver } from '../src/driver/kubernetes-driver.js';
import type { KubernetesDriverOptions } from '../src/driver/session.js';
import type { KubernetesEngine, KubernetesTargetConfig } from '../src/target-config.js';
import { PlayedCluster } from './played-cluster.js';

export const INSTALLATION = '0f6f7f0e-7a3c-4a58-9d58-2f3f9c8f0a11';
export const NAMESPACE = 'models';
/** The port of the tests' engines, each on an address of its own. */
const PORT = 28_734;

export function engineConfig(overrides: Partial<KubernetesEngine> = {}): KubernetesEngine {
  return {
    image: 'registry.example/sim:1',
    command: ['sim', '--port', '{port}'],
    port: PORT,
    args: {},
    env_allow: ['LOG_LEVEL'],
    env: {},
    ready: { path: '/health', timeout_seconds: 60 },
    stop: { drain: 'engine', grace_seconds: 5 },
    unit: { kind: 'deployment' },
    resources: {},
    allow: { accelerators: [] },
    pod: {},
    worker_pod: {},
    ...overrides,
  };
}

export function targetConfig(overrides: Partial<KubernetesTargetConfig> = {}): KubernetesTargetConfig {
  return {
    name: 'kube',
    kind: 'kubernetes',
    cluster: 'in-cluster',
    namespaces: { default: NAMESPACE, by_tenant: {} },
    reach: 'pod',
    secrets: 'reference',
    accelerators: {},
    engines: { sim: engineConfig() },
    retain_seconds: 3_600,
    on_drift: 'report',
    ...overrides,
  };
}

export function instanceSpec(overrides: Partial<InstanceSpec> = {}): InstanceSpec {
  return {
    instanceId: 'ins_0190c0de',
    generation: 1,
    tenantName: 'acme',
    owner: {
      tenantId: 'ten_acme',
      deploymentId: 'dep_chat',
      revisionId: 'rev_chat1',
      revisionName: 'chat-1',
      ordinal: 0,
    },
    model: { id: 'qwen3' },
    runtime: { engine: 'sim', args: {}, env: {} },
    probe: { intervalSeconds: 1, timeoutSeconds: 1, failureThreshold: 2 },
    ...overrides,
  };
}

/** A simulated cluster and drivers of it, as newly started workers would make them. */
export class DriverBench {
  private readonly drivers: KubernetesDriver[] = [];
  /** Runs at each point at which a test can hold a driver. */
  onPausePoint: (name: string) => Promise<void> = async () => undefined;

  private constructor(readonly cluster: PlayedCluster) {}

  static async create(): Promise<DriverBench> {
    return new DriverBench(await PlayedCluster.create());
  }

  driver(
    config: Partial<KubernetesTargetConfig> = {},
    options: KubernetesDriverOptions = {},
    installation = INSTALLATION,
  ): KubernetesDriver {
    const host = { installation: async () => installation, pausePoint: (name: string) => this.onPausePoint(name) };
    const driver = new KubernetesDriver(targetConfig(config), host, {
      cluster: this.cluster.api.cluster(),
      ...options,
      health: { repairMs: 50, ...options.health },
    });
    this.drivers.push(driver);
    return driver;
  }

  /** The configuration of `driver()`. */
  config(): KubernetesTargetConfig {
    return targetConfig();
  }

  async close(): Promise<void> {
    await Promise.all(this.drivers.splice(0).map((driver) => driver.close()));
    await this.cluster.close();
  }
}

/**
 * Repeats `ask` until the answer is wanted.
 * @throws Error with the last answer if that does not happen in time
 */
export async function until<T>(
  ask: () => T | Promise<T>,
  isWanted: (answer: T) => boolean,
  withinMs = 10_000,
): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    if (Date.now() > end) throw new Error(`not within ${withinMs} ms; last: ${JSON.stringify(answer)}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
