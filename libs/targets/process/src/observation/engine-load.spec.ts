import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { askEngineLoad, readEngineLoad } from '@slipway/target-driver';
import { observeUntil } from '@slipway/target-driver/conformance';
import { Agent } from 'undici';
import { EngineHost } from '../../test/engine-host.js';

const VLLM = { waiting: ['vllm:num_requests_waiting', 'old:waiting'], kv_usage: 'vllm:kv_cache_usage_perc' };

it('reads the waiting requests over all series of the first reported name, and the fullest memory', () => {
  const text = [
    '# HELP vllm:num_requests_waiting Number of requests waiting',
    '# TYPE vllm:num_requests_waiting gauge',
    'vllm:num_requests_waiting{engine="0",model_name="a } 9"} 3.0',
    'vllm:num_requests_waiting{engine="1"} 4 1700000000',
    'old:waiting 50',
    'vllm:kv_cache_usage_perc{engine="0"} 0.25',
    'vllm:kv_cache_usage_perc{engine="1"} 0.75',
    'vllm:num_requests_waiting_total 1000',
  ].join('\n');
  expect(readEngineLoad(text, VLLM)).toEqual({ waiting: 7, kvUsage: 0.75 });
  expect(readEngineLoad(text, { waiting: 'none' })).toEqual({ waiting: null, kvUsage: null });
});

it('ignores values that are not numbers, and limits the others to the possible range', () => {
  const text = ['w NaN', 'w +Inf', 'w -4', 'w', 'w x', `w ${'9'.repeat(40)}`, 'k 55', `${'w'.repeat(100_000)} 1`].join(
    '\n',
  );
  expect(readEngineLoad(text, { waiting: 'w', kv_usage: 'k' })).toEqual({ waiting: 1_000_000, kvUsage: 1 });
});

const METRICS = { path: '/metrics', waiting: 'w' };

it.each<[string, RequestListener, object | undefined]>([
  ['tells', (_request, response) => void response.end('w 2\n'), { waiting: 2, kvUsage: null }],
  ['has none', (_request, response) => void response.writeHead(404).end('w 2\n'), undefined],
  ['never ends', (_request, response) => flood(response), undefined],
  ['says nothing', () => undefined, undefined],
])('reads the load of an engine that %s, in bounded time and memory', async (_what, listener, expected) => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const agent = new Agent();
  try {
    const { port } = server.address() as AddressInfo;
    expect(await askEngineLoad(`http://127.0.0.1:${port}`, METRICS, { dispatcher: agent })).toEqual(expected);
  } finally {
    await agent.destroy();
    server.closeAllConnections();
    server.close();
  }
});

function flood(response: Parameters<RequestListener>[1]): void {
  const more = (): void => {
    while (!response.destroyed && response.write('w 1\n'.repeat(10_000)));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}

it('reads metrics from their own port with the key of the engine, also after another worker started it', async () => {
  const host = await EngineHost.create();
  const command = ['node', 'test/engine.mjs', '--port', '{port}', '--metrics-port', '{port.metrics}'];
  const engine = { command, ports: ['other', 'metrics'], env: { ENGINE_KEY: '{instance_key}' }, metrics: METRICS };
  const drivers = [host.driver({}, engine), host.driver({}, engine)];
  try {
    await host.setHealthy(true);
    const spec = host.spec({ instanceKey: 'k-1' });
    await drivers[0]!.provision(spec);
    const { baseUrl = '' } = await observeUntil(drivers[0]!, spec, 'ready');
    for (const driver of drivers) expect(await driver.load(spec, baseUrl)).toEqual({ waiting: 3, kvUsage: null });
    expect(await drivers[0]!.load({ ...spec, instanceKey: 'k-2' }, baseUrl)).toBeUndefined();

    // As the previous release wrote the claim, and as a full disk truncates it: the main port has no metrics, and no
    // other port is guessed.
    const claim = join(host.home, 'instances', 'local', 'inst_1', '1.pid');
    const lines = (await readFile(claim, 'utf8')).split('\n');
    for (const text of [`${lines.slice(0, 5).join('\n')}\n`, lines.slice(0, 6).join('\n')]) {
      await writeFile(claim, text);
      expect(await drivers[0]!.load(spec, baseUrl)).toBeUndefined();
      expect((await drivers[0]!.observe(spec)).state).toBe('ready');
    }
  } finally {
    await Promise.all(drivers.map((driver) => driver.close()));
    await host.dispose();
  }
});
