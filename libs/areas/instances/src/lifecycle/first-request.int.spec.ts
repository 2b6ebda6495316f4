import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { RevisionSpec } from '@slipway/contracts';
import { QUICK_PROBES, TargetBed, until, type InstancesProcess } from '../../test/target-bed.js';

let bed: TargetBed;
let worker: InstancesProcess;
let server: Server;
let base_url: string;
/** Answers of POST requests. */
let answer: { status: number; body: string };
let posts: [url: string | undefined, key: string | undefined][];

beforeEach(async () => {
  answer = { status: 401, body: '{"error":{"message":"wrong key sk-from-file"}}' };
  posts = [];
  server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.end('{"data":[{"id":"tiny"}]}');
    posts.push([request.url, request.headers.authorization]);
    response.writeHead(answer.status).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  bed = await TargetBed.create(2, { timings: { refusedAfterMs: 100 } });
  worker = await bed.process('worker');
});
afterEach(async () => {
  await bed.dispose();
  server.closeAllConnections();
  server.close();
});

const adopted = (probes: RevisionSpec['probes'] = {}): RevisionSpec =>
  bed.spec(
    {},
    {
      runtime: { target: 'adopted', args: {}, env: {} },
      probes: { ...QUICK_PROBES, ...probes },
      endpoint: { base_url, protocol: 'openai', health_path: '/health', credential_ref: 'key' },
    },
  );

async function is(state: string, reason?: string): Promise<void> {
  await until(
    `the instance to be ${state} ${reason}`,
    async () => (await worker.rows('rev_1')).some((row) => row.state === state && (!reason || row.reason === reason)),
    () => worker.rows('rev_1'),
  );
}

it('a server that is healthy and refuses every request is never published, and says why, until it answers one', async () => {
  await worker.want('rev_1', adopted());
  await is('unhealthy', 'request_refused');
  expect((await worker.status('rev_1'))?.message).toBe(
    `POST ${base_url}/v1/chat/completions returned 401: wrong key [redacted]`,
  );
  expect(await worker.published('rev_1')).toEqual([]);
  answer = { status: 200, body: '{"choices":[{"message":{"content":"ready"}}]}' };
  await worker.ready('rev_1');
  expect(posts[0]).toEqual(['/v1/chat/completions', 'Bearer sk-from-file']);
});

it('sends one request for an adoption, and none while or after the server is unhealthy', async () => {
  answer = { status: 200, body: '{"choices":[]}' };
  await worker.want('rev_1', adopted());
  await worker.ready('rev_1');
  const listener = server.listeners('request')[0] as Parameters<typeof createServer>[1];
  server.removeAllListeners('request').on('request', (_request, response) => void response.writeHead(503).end());
  await is('unhealthy', 'probe_failed');
  server.removeAllListeners('request').on('request', listener!);
  await worker.ready('rev_1');
  expect(posts).toHaveLength(1);
});

it('a server that is busy is waited for', async () => {
  answer = { status: 429, body: 'later' };
  await worker.want('rev_1', adopted());
  await until('two requests', async () => posts.length > 1);
  await is('starting', 'loading');
  expect((await worker.status('rev_1'))?.message).toContain('returned 429: later');
  answer = { status: 200, body: '{"choices":[]}' };
  await worker.ready('rev_1');
});

it('with probe: list a server is ready without a request, and shown as not proven', async () => {
  await worker.want('rev_1', adopted({ probe: 'list' }));
  const [row] = await worker.ready('rev_1');
  expect(row).toMatchObject({ message: expect.stringMatching(/^not proven: probes\.probe is list/) });
  expect(posts).toEqual([]);
});

it('an engine that Slipway starts has to answer a request as well', async () => {
  await worker.want('rev_1', bed.spec());
  await worker.ready('rev_1');
});
