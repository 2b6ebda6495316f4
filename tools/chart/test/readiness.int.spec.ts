import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect } from '@jest/globals';
import { exampleValues } from '../src/chart.js';
import { renderChart } from '../src/helm.js';
import { found } from './pods.js';
import { helm, itWith } from './programs.js';

const it = itWith(helm);
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** Runs what the pod of `helm test` runs, against a server that gives these answers. */
async function asked(...statuses: number[]): Promise<{ code: number; said: string; requests: number }> {
  const objects = await renderChart({ helm, values: [exampleValues().get('minimal')!] });
  const { spec } = found(objects, 'Pod', 'slipway-test-api');
  const [program, flag, script] = spec.containers[0].command as string[];
  let requests = 0;
  const server = createServer((_request, response) => {
    const status = statuses[Math.min(requests, statuses.length - 1)]!;
    requests += 1;
    response.writeHead(status, { connection: 'close' }).end(`status ${status}`);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const hasty = script!.replace('3000', '10');
  expect([program, flag, hasty === script]).toEqual(['node', '-e', false]);
  const child = spawn(process.execPath, ['-e', hasty, `http://127.0.0.1:${port}/readyz`], { stdio: 'pipe' });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  const [code] = (await once(child, 'close')) as [number];
  return { code, said, requests };
}

it('the test of the chart passes for a process that is ready, at once or later', async () => {
  expect(await asked(200)).toMatchObject({ code: 0, requests: 1 });
  expect(await asked(503, 503, 200)).toMatchObject({ code: 0, requests: 3, said: expect.stringContaining('is ready') });
});

it('the test of the chart fails after ten tries for a process that is not ready, with its answer', async () => {
  expect(await asked(503)).toMatchObject({ code: 1, requests: 10, said: expect.stringContaining('503 status 503') });
});
