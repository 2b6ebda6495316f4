import { afterAll, beforeAll, describe } from '@jest/globals';
import { TestBed } from '@slipway/kube-testbed';
import { hasKube } from '@slipway/kube-testbed/jest';
import { childEnvironment } from '@slipway/platform-config/environment';
import { Stack } from './stack.js';

/** Starts the product with a target `local` whose engine `sim` runs there. */
export type StartStack = (options?: Omit<NonNullable<Parameters<typeof Stack.start>[0]>, 'config'>) => Promise<Stack>;

/**
 * A suite that holds wherever engines run: as processes of the worker's host, and as pods of a cluster. Where there is no control plane the
 * second is skipped by name.
 */
export function describeOnEachTarget(title: string, suite: (start: StartStack) => void): void {
  describe(`${title}, in processes`, () => suite((options) => Stack.start(options)));
  const isAsked = hasKube || childEnvironment()['SLIPWAY_REQUIRE_KUBE'] === '1';
  (isAsked ? describe : describe.skip)(`${title}, in pods`, () => {
    let bed: TestBed | undefined;
    beforeAll(async () => {
      bed = await TestBed.open({ nodes: [{}, {}] });
    });
    afterAll(() => bed?.close());
    // What the suite has started ends before the bed.
    describe('of a cluster', () => suite((options) => startInPods(bed!, options)));
  });
}

async function startInPods(bed: TestBed, options: Parameters<StartStack>[0]): Promise<Stack> {
  const namespace = await bed.namespace();
  const { kubeconfig } = await bed.grant([namespace]);
  return Stack.start({ ...options, config: (home) => inPods({ home, kubeconfig, namespace }) });
}

/** Named as the built-in target of processes, with the same arguments, so that the same requests go to it. */
const inPods = ({ home, kubeconfig, namespace }: { home: string; kubeconfig: string; namespace: string }) => `
defaults: false
targets:
  - name: local
    kind: kubernetes
    cluster: {kubeconfig: ${kubeconfig}}
    namespaces: {default: ${namespace}}
    engines:
      sim:
        image: test/sim
        command: [sim, --host, 0.0.0.0, --port, "{port}", --model, "{model.id}", --start-log, ${home}/sim-starts.log]
        port: 8000
        args:
          ttft_ms: "--ttft-ms={}"
          itl_ms: "--itl-ms={}"
          error_rate: "--error-rate={}"
          startup_ms: "--startup-ms={}"
          crash_after_ms: "--crash-after-ms={}"
          never_ready: "--never-ready={}"
        ready: {path: /health, timeout_seconds: 60}
        stop: {drain: engine, drain_seconds: 60}
`;
