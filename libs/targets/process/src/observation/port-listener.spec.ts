import { createServer, type Server } from 'node:http';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { observeUntil } from '@slipway/target-driver/conformance';
import { EngineHost, until } from '../../test/engine-host.js';
import type { EngineConfig } from '../templates/engine-config.js';
import { EngineProcesses } from '../instances/engine-process.js';
import { PortListeners } from './port-listener.js';
import type { ProcessDriver } from '../process-driver.js';

let host: EngineHost;
let driver: ProcessDriver;
const stranger: Server[] = [];

beforeEach(async () => {
  host = await EngineHost.create();
  await host.setHealthy(true);
});
afterEach(async () => {
  for (const server of stranger.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  await driver?.close();
  await host.dispose();
});

/** The port of the first generation, once its claim is complete. */
const portOfFirst = async (): Promise<number> => {
  const claim = join(host.home, 'instances', 'local', 'inst_1', '1.pid');
  let lines: string[] = [];
  await until('the claim is written', async () => {
    lines = (await readFile(claim, 'utf8').catch(() => '')).split('\n');
    return lines.length > 5;
  });
  return Number(lines[2]);
};
/** A server of this process, which answers every request with 200. */
const strangerAt = async (port: number, address = '127.0.0.1'): Promise<Server> => {
  const server = createServer((_request, response) => response.end('{}'));
  stranger.push(server);
  await new Promise<void>((resolve) => server.listen(port, address, resolve));
  return server;
};
/** An engine that never finishes loading. */
const LOADING: Partial<EngineConfig> = {
  command: ['node', 'test/parent.mjs', 'test/child.mjs', '/dev/null', '0', '{port}'],
};
const start = async (engine: Partial<EngineConfig>) => {
  driver = host.driver({}, engine);
  await driver.provision(host.spec());
  return portOfFirst();
};

const onLinux = existsSync('/proc/net/tcp') ? describe : describe.skip;

onLinux('a stranger that answers at the port of an engine that loads', () => {
  it('does not count as the engine: the start fails, and the failure names the listener', async () => {
    const port = await start(LOADING);
    expect(await driver.observe(host.spec())).toMatchObject({ state: 'starting' });
    await strangerAt(port);
    expect(await driver.observe(host.spec())).toMatchObject({
      state: 'unhealthy',
      reason: 'port_in_use',
      message: expect.stringMatching(
        `^process ${process.pid} \\(.+\\) listens on port ${port}, and is not the engine$`,
      ),
      failure: { cause: 'port_in_use', remediation: expect.stringContaining('the next start uses another port') },
    });
    expect(await driver.answers(host.spec(), `http://127.0.0.1:${port}`)).toBe(false);
  });

  it('does not count as the engine on a wildcard address either', async () => {
    const port = await start(LOADING);
    await strangerAt(port, '::');
    expect(await driver.observe(host.spec())).toMatchObject({ reason: 'port_in_use' });
  });

  it('does not count as the engine if it has stopped listening when the port is checked', async () => {
    const port = await start(LOADING);
    const server = await strangerAt(port);
    server.removeAllListeners('request');
    server.on('request', (_request, response) => {
      server.close();
      response.end('{}');
    });
    expect(await driver.observe(host.spec())).toMatchObject({
      state: 'starting',
      message: 'the process that responded no longer listens',
    });
  });

  it('counts as the engine if the template allows any listener', async () => {
    const port = await start({ ...LOADING, ready: { listener: 'any' } });
    await strangerAt(port);
    await observeUntil(driver, host.spec(), 'ready');
  });

  it('does not stop the engine from starting once it is gone', async () => {
    const port = await start(LOADING);
    const server = await strangerAt(port);
    expect(await driver.observe(host.spec())).toMatchObject({ reason: 'port_in_use' });
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
    expect(await driver.observe(host.spec())).toMatchObject({ state: 'starting' });
  });
});

onLinux('an engine', () => {
  it('is identified by its own socket, also after another worker has taken over', async () => {
    const port = await start({});
    await observeUntil(driver, host.spec(), 'ready');
    await driver.close();
    driver = host.driver();
    expect(await driver.observe(host.spec())).toMatchObject({ state: 'ready' });
    expect(await driver.answers(host.spec(), `http://127.0.0.1:${port}`)).toBe(true);
  });

  it('is identified by its child, also by one in another session without environment', async () => {
    const command = ['node', 'test/parent.mjs', 'test/engine.mjs', '--port', '{port}', '--model', '{model.id}'];
    // Without a control group that identifies its processes.
    driver = host.driver({ cgroups: false }, { command });
    await driver.provision(host.spec());
    expect((await observeUntil(driver, host.spec(), 'ready')).message).toBeUndefined();
  });

  it('is trusted if the host does not report who listens', async () => {
    const port = await start({});
    await until('it listens', () =>
      fetch(`http://127.0.0.1:${port}/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    const record = { pid: process.pid, port, bootId: '', birth: '' };
    const engine = { instanceId: 'inst_1', generation: 1, folder: '/nowhere', record };
    expect(await new PortListeners(new EngineProcesses(), '/nowhere').ownerOf(engine)).toMatchObject({ is: 'unknown' });
  });
});
