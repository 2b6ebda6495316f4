import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { InstanceSpec } from '@slipway/target-driver';
import { observeUntil, terminateUntilGone } from '@slipway/target-driver/conformance';
import { EngineHost, until } from '../../test/engine-host.js';
import type { EngineConfig } from '../templates/engine-config.js';
import type { ProcessDriver } from '../process-driver.js';

let host: EngineHost;
let driver: ProcessDriver;
beforeEach(async () => {
  host = await EngineHost.create();
});
afterEach(async () => {
  await driver?.close();
  await host.dispose();
});
const configured = (engine: Partial<EngineConfig> = {}) => (driver = host.driver({}, engine));

const FETCHING: Partial<EngineConfig> = {
  prefetch: { command: ['node', 'test/prefetch.mjs', '{home}', '{model.uri}'], timeout_seconds: 60 },
};
const fetched = async () =>
  (await readFile(join(host.home, 'fetched'), 'utf8').catch(() => '')).split('\n').slice(0, -1).length;
const fetching = (instanceId: string): InstanceSpec =>
  host.spec({ instanceId, model: { id: 'tiny', uri: 'org/tiny' } });
const preparedUntil = async (spec: InstanceSpec, state: string) => {
  await until(`it is ${state}`, async () => (await driver.prepare(spec)).state === state);
};

it('reports a missing program or model file before a start', async () => {
  const model = join(host.home, 'tiny.gguf');
  configured({ command: ['node', 'test/engine.mjs', '--port', '{port}', '--model', '{model.uri}'] });
  const spec = host.spec({ model: { id: 'tiny', uri: model } });
  const { runtime } = spec;
  const missing = { ...spec, runtime: { ...runtime, engine: 'missing', args: {} } };
  expect(await driver.prepare(missing)).toMatchObject({
    state: 'failed',
    failure: { cause: 'program_not_found', line: 'no-such-program-anywhere was not found' },
  });
  expect(await driver.prepare(spec)).toMatchObject({
    state: 'failed',
    failure: { cause: 'model_missing', line: `${model} does not exist or is not readable` },
  });
  await writeFile(model, '');
  expect(await driver.prepare(spec)).toEqual({ state: 'ready' });
  expect(await driver.list()).toEqual([]);
  expect(await host.starts()).toEqual([]);
});

it('fetches a model from a hub, so that the start that follows fetches nothing', async () => {
  await writeFile(join(host.home, 'slow'), '');
  configured(FETCHING);
  await until('bytes are seen', async () => {
    const found = await driver.prepare(fetching('wish_1'));
    return found.state === 'running' && found.progress.total_bytes === 1_000_003_000;
  });
  await rm(join(host.home, 'slow'));
  await preparedUntil(fetching('wish_1'), 'ready');
  expect(await driver.list()).toEqual([]);
  await host.setHealthy(true);
  await until('it starts', async () => {
    await driver.provision(fetching('a'));
    return (await host.starts()).length === 1;
  });
  await observeUntil(driver, fetching('a'), 'ready');
  expect(await fetched()).toBe(1);
  await terminateUntilGone(driver, 'a');
});

it('reports a failed fetch to its caller, and tries again for the next request', async () => {
  await writeFile(join(host.home, 'refused'), 'You are trying to access a gated repo.');
  configured(FETCHING);
  await preparedUntil(fetching('wish_1'), 'failed');
  await rm(join(host.home, 'refused'));
  await preparedUntil(fetching('wish_2'), 'ready');
  expect(await fetched()).toBe(2);
});
