import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, jest } from '@jest/globals';
import { programs, startTrial, type Trial } from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { parseOperatorConfig } from '@slipway/platform-config';
import { observeUntil, terminateUntilGone } from '@slipway/target-driver/conformance';
import { INSTALLATION, instanceSpec } from '../../test/driver-bench.js';
import { kubernetesTarget } from '../kubernetes-target.js';
import type { KubernetesTargetConfig } from '../target-config.js';
import { KubernetesDriver } from './kubernetes-driver.js';

jest.setTimeout(180_000);
const WITHIN_MS = 90_000;

let trial: Trial;
beforeAll(async () => {
  if (hasKube) trial = await startTrial(programs());
});
afterAll(() => trial?.close());

kubeIt('the target that `npm run kube:try` writes serves a model, with an accelerator if it is requested', async () => {
  const { targets } = parseOperatorConfig(readFileSync(trial.configFile, 'utf8'), [kubernetesTarget]);
  const config = targets.find(({ name }) => name === 'pods') as KubernetesTargetConfig;
  const host = { installation: async () => INSTALLATION, pausePoint: async () => undefined };
  const driver = new KubernetesDriver(config, host);
  try {
    for (const [number, resources] of [{}, { accelerator: 'gpu', count: 2 }].entries()) {
      const spec = instanceSpec({
        instanceId: `ins_trial${number}`,
        model: { id: 'sim' },
        runtime: { engine: 'sim', args: {}, env: {} },
        resources,
      });
      expect(driver.check(spec)).toEqual([]);
      await driver.provision(spec);
      const { baseUrl } = await observeUntil(driver, spec, 'ready', WITHIN_MS);
      expect((await fetch(`${baseUrl}/v1/models`)).status).toBe(200);
      await terminateUntilGone(driver, spec.instanceId);
    }
    expect(driver.health()).toEqual({ state: 'ok' });
  } finally {
    await driver.close();
  }
});
