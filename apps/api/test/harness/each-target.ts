import { afterAll, beforeAll, describe } from '@jest/globals';
import path from 'node:path';
import { TestBed } from '@slipway/kube-testbed';
import { hasKube } from '@slipway/kube-testbed/jest';
import { childEnvironment } from '@slipway/platform-config/environment';
import { ROOT, Stack } from './stack.js';

const SIMULATOR = path.join(ROOT, 'tools/inference-sim/dist/main.js');

type StackOptions = Omit<NonNullable<Parameters<typeof Stack.start>[0]>, 'config'>;

/** Starts the product with a target `local` that runs the engine `sim`. */
export type StartStack = (options?: StackOptions & { engine?: EngineOptions }) => Promise<Stack>;

interface EngineOptions {
  /** Flags of the simulator that each instance gets. */
  flags: readonly string[];
  /** A stopping engine is killed after a few seconds, whatever it has in flight. */
  isKilledSoon: true;
}

/**
 * A suite that holds on each kind of target: with engines as processes of the worker's host, and as pods of a cluster.
 * Without a control plane, the second is skipped by name.
 */
export function describeOnEachTarget(title: string, suite: (start: StartStack) => void): void {
  describe(`${title}, in processes`, () => suite(startInProcesses));
  const isAsked = hasKube || childEnvironment()['SLIPWAY_REQUIRE_KUBE'] === '1';
  (isAsked ? describe : describe.skip)(`${title}, in pods`, () => {
    let bed: TestBed | undefined;
    beforeAll(async () => {
      bed = await TestBed.open({ nodes: [{}, {}] });
    });
    afterAll(() => bed?.close());
    // The suite's processes must end before the bed.
    describe('of a cluster', () => suite((options) => startInPods(bed!, options)));
  });
}

function startInProcesses({ engine, ...options }: Parameters<StartStack>[0] = {}): Promise<Stack> {
  return Stack.start({ ...options, ...(engine && { config: (home: string) => inProcesses({ home, engine }) }) });
}

async function startInPods(bed: TestBed, { engine, ...options }: Parameters<StartStack>[0] = {}): Promise<Stack> {
  const namespace = await bed.namespace();
  const { kubeconfig } = await bed.grant([namespace]);
  return Stack.start({ ...options, config: (home) => inPods({ home, kubeconfig, namespace, engine }) });
}

const inProcesses = ({ home, engine }: { home: string; engine: EngineOptions }) => `
targets:
  - name: local
    kind: process
    max_instances: 14
    engines:
      sim:
        command: [node, ${JSON.stringify(SIMULATOR)}, --port, "{port}", --model, "{model.id}", --start-log, ${home}/sim-starts.log${listOf(engine.flags)}]
        ready: {path: /health, timeout_seconds: 60}
        stop: {grace_seconds: 1}
`;

interface PodConfig {
  home: string;
  kubeconfig: string;
  namespace: string;
  engine: EngineOptions | undefined;
}

/** Has the name and the arguments of the built-in target of processes, so that the same requests use it. */
const inPods = ({ home, kubeconfig, namespace, engine }: PodConfig) => `
defaults: false
targets:
  - name: local
    kind: kubernetes
    cluster: {kubeconfig: ${kubeconfig}}
    namespaces: {default: ${namespace}}
    engines:
      sim:
        image: test/sim
        command: [sim, --host, 0.0.0.0, --port, "{port}", --model, "{model.id}", --start-log, ${home}/sim-starts.log${listOf(engine?.flags ?? [])}]
        port: 8000
        args:
          ttft_ms: "--ttft-ms={}"
          itl_ms: "--itl-ms={}"
          error_rate: "--error-rate={}"
          startup_ms: "--startup-ms={}"
          crash_after_ms: "--crash-after-ms={}"
          never_ready: "--never-ready={}"
        ready: {path: /health, timeout_seconds: 60}
        stop: ${engine ? '{drain: gateway, grace_seconds: 6}' : '{drain: engine, drain_seconds: 60}'}
`;

const listOf = (flags: readonly string[]) => flags.map((flag) => `, ${JSON.stringify(flag)}`).join('');
