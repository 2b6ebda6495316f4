import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { runCommand } from '../test/run-command.js';

const page = (data: object[], next_cursor: string | null = null) => Response.json({ data, next_cursor });

it('watches as kubectl does: the titles once, and all rows in the same columns', async () => {
  const stop = new AbortController();
  const created_at = new Date(Date.now() - 125_000).toISOString();
  let reads = 0;
  const fetch = async () => {
    reads += 1;
    if (reads === 3) stop.abort();
    const rows = [{ name: 'a', state: 'progressing', active_revision: 'a-00001', created_at }];
    return page([...rows, { name: 'longer', state: reads > 1 ? 'active' : 'degraded', created_at }]);
  };
  const list = ['deployments', 'list', '-w', '--interval', '1ms'];
  const { code, stdout, stderr } = await runCommand(list, { fetch, signal: stop.signal });
  expect([code, stderr]).toEqual([0, '']);
  const [head, ...rows] = stdout.trimEnd().split('\n');
  expect(rows).toHaveLength(3);
  const [ofState, ofActive] = ['STATE', 'ACTIVE'].map((title) => head!.indexOf(title));
  expect(rows.map((row) => row.slice(ofState, ofActive).trim())).toEqual(['progressing', 'degraded', 'active']);
  expect(rows.map((row) => row.slice(ofActive).split(' ')[0])).toEqual(['a-00001', '-', '-']);
  for (const row of rows) expect(row).toMatch(/ 2m$/);
});

it('calls a deployment without a revision empty, as the console does, and keeps the word of the API in JSON', async () => {
  const facts = ['active_revision', 'candidate_revision', 'previous_revision', 'current_operation_id'];
  const rows = ['creating', 'active'].flatMap((state) => [
    { name: 'a', state },
    ...facts.map((fact) => ({ name: 'a', state, [fact]: 'x' })),
  ]);
  const list = (...flags: string[]) => runCommand(['deployments', 'list', ...flags], { fetch: async () => page(rows) });
  const [head, ...lines] = (await list()).stdout.trimEnd().split('\n');
  const ofState = head!.indexOf('STATE');
  const shown = lines.map((line) => line.slice(ofState).split(' ')[0]);
  expect([shown[0], shown[4]]).toEqual(['empty', 'creating']);
  const { shownDeploymentState } = await import('@slipway/sdk');
  expect(shown).toEqual(rows.map(shownDeploymentState));
  expect(JSON.parse((await list('-o', 'json')).stdout)).toEqual(rows);
});

it('fits tables to COLUMNS, else to the terminal, and cuts nothing in a pipe', async () => {
  const rows = [{ id: `op_${'0'.repeat(32)}`, kind: 'rollout', status: 'waiting', message: 'a long text '.repeat(20) }];
  const list = async (options: object) => {
    const ran = await runCommand(['operations', 'list'], { fetch: async () => page(rows), ...options });
    return {
      ...ran,
      widths: ran.stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.replace(/\u001b\[\d+m/g, '').length),
    };
  };
  for (const [options, most] of [
    [{ columns: 100 }, 100],
    [{ columns: 200, env: { COLUMNS: '90' } }, 90],
    [{ columns: 90, env: { COLUMNS: '120' } }, 120],
    [{ columns: 60, env: { COLUMNS: 'many' } }, 60],
  ] as const) {
    const { widths, stdout } = await list(options);
    expect([most, Math.max(...widths) <= most, stdout.includes(rows[0]!.id)]).toEqual([most, true, true]);
  }
  const { stderr } = await list({ columns: 60 });
  expect(stderr.replaceAll('\n', ' ')).toMatch(/too narrow for .*PROGRESS.* To see all columns: -o wide/);
  for (const line of stderr.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
  expect((await list({ env: { COLUMNS: '40' } })).stdout).toContain('a long text '.repeat(20).trim());
  expect((await list({ env: { COLUMNS: '40' } })).stderr).toBe('');
});

it('requests only what is as recent as --since asks, and takes durations as kubectl does', async () => {
  const asked: URLSearchParams[] = [];
  const fetch = async (url: unknown) => {
    asked.push(new URL(String(url)).searchParams);
    return page([]);
  };
  const lists = [
    ['operations', 'list'],
    ['audit', 'list'],
    ['rollouts', 'list'],
    ['rollouts', 'history', 'chat'],
    ['plans', 'list'],
    ['tokens', 'list'],
    ['webhooks', 'deliveries', 'wh_1'],
  ];
  for (const list of lists) {
    const before = Date.now();
    await runCommand([...list, '--since', '1h30m', '--until', '2026-01-02T03:04:05Z'], { fetch });
    const period = asked.findLast((one) => one.has('since'))!;
    const { since, until } = Object.fromEntries(period) as { since: string; until: string };
    expect([list, until]).toEqual([list, '2026-01-02T03:04:05Z']);
    const agoMs = before - Date.parse(since);
    expect(Math.abs(agoMs - 90 * 60_000)).toBeLessThan(30_000);
  }
  await runCommand(['operations', 'list', '--order', 'asc'], { fetch });
  expect(asked.at(-1)!.get('order')).toBe('asc');
  for (const wrong of ['soon', '-5m', '2026-13-45']) {
    const { code, stderr } = await runCommand(['operations', 'list', '--since', wrong], { fetch });
    expect([wrong, code, stderr]).toEqual([wrong, 1, expect.stringContaining('10m, 1h30m or 2d')]);
  }
});

it('follows events from a time: after the newest that is older', async () => {
  const followed: (string | null)[] = [];
  const time = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const stop = new AbortController();
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    const headers = new Headers(init?.headers);
    if (headers.get('accept') !== 'text/event-stream')
      return page([
        { sequence: 9, time: time(1) },
        { sequence: 8, time: time(20) },
      ]);
    followed.push(headers.get('last-event-id'));
    stop.abort();
    throw new TypeError('refused');
  };
  await runCommand(['events', 'chat', '-f', '--since', '10m'], { fetch, signal: stop.signal });
  expect(followed).toEqual(['8']);
});

it('refuses a value that a flag does not take, and names those that it takes, before it asks the api', async () => {
  const asked: unknown[] = [];
  const fetch = async (url: unknown) => {
    asked.push(url);
    return page([]);
  };
  for (const [words, allowed] of [
    [['rollouts', 'create', 'chat', '--strategy', 'canry'], 'candidate, immediate, canary'],
    [['operations', 'list', '--status', 'done'], 'pending, running'],
    [['policies', 'set', 'chat', '--mode', 'on'], 'off, observe, recommend'],
  ] as const) {
    const { code, stderr } = await runCommand([...words], { fetch });
    expect([words, code, stderr]).toEqual([words, 1, expect.stringContaining(`Allowed choices are ${allowed}`)]);
  }
  expect(asked).toEqual([]);
});

it('says that the noun comes first to those who type the verb first', async () => {
  const first = await runCommand(['get', 'deployments']);
  expect([first.code, first.stderr]).toEqual([1, expect.stringContaining('slipway deployments list\n')]);
  for (const words of [
    ['describe', 'deployment', 'chat'],
    ['get', 'deploy/chat'],
    ['get', 'deployments.apps', 'chat'],
  ])
    expect((await runCommand(words)).stderr).toContain('slipway deployments get chat\n');
  expect((await runCommand(['deploy', 'ls'])).stderr).toContain('slipway deployments list\n');
  expect((await runCommand(['get', 'events'])).stderr).toContain('slipway events <deployment>\n');
  expect((await runCommand(['describe', 'events', 'chat'])).stderr).toContain('slipway events chat\n');
  // `chat` is a command too, and here the name of a deployment.
  expect((await runCommand(['get', 'chat'])).stderr).toContain('slipway deployments get <deployment>\n');
  // A near word of this command would be a second, worse hint.
  expect(first.stderr).not.toContain('Did you mean');
  expect((await runCommand(['nonsense', 'deployments'])).stderr).not.toContain('noun');
  expect((await runCommand(['deployment', 'lst'])).stderr).toMatch(/Did you mean .*list/);
});

it('names a file of the operator that was refused, with what is wrong in it', async () => {
  const configuration = { digest: null, loaded_at: 'now', current: false, problems: ['targets[0].name: it is wrong'] };
  const listed = (more: object) => async () =>
    Response.json({ data: [{ name: 'local' }], next_cursor: null, configuration: { ...configuration, ...more } });
  const list = ['targets', 'list', '-o', 'name'];
  expect(await runCommand(list, { fetch: listed({}) })).toEqual({
    code: 0,
    stdout: 'local\n',
    stderr:
      "Warning: The operator's configuration file was refused, so its last valid version applies. 1 problem: targets[0].name: it is wrong\n",
  });
  expect((await runCommand(list, { fetch: listed({ problems: [] }) })).stderr).toMatch(/version applies\.\n$/);
  expect((await runCommand(list, { fetch: listed({ current: true }) })).stderr).toBe('');
});

it.each(['', '/', '/api/v1', '/api/v1/', '/behind/api/v1'])('takes a base URL that ends with "%s"', async (end) => {
  const asked: string[] = [];
  const fetch = async (url: unknown) => {
    asked.push(new URL(String(url)).pathname);
    return page([]);
  };
  const env = { SLIPWAY_URL: `http://slipway.test${end}` };
  const before = end.startsWith('/behind') ? '/behind' : '';
  for (const words of [
    ['deployments', 'list'],
    ['api', 'GET', '/deployments'],
    ['api', '/deployments'],
  ])
    expect((await runCommand(words, { fetch, env })).code).toBe(0);
  expect(new Set(asked)).toEqual(new Set([`${before}/api/v1/deployments`]));
});

it('calls the server through the proxy of the environment', async () => {
  const seen: string[] = [];
  const proxy = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[],"next_cursor":null}');
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const http_proxy = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const env = { SLIPWAY_URL: 'http://slipway.invalid' };
  for (const words of [
    ['deployments', 'list'],
    ['api', '/deployments'],
  ])
    expect((await runCommand(words, { env: { ...env, http_proxy } })).code).toBe(0);
  const direct = await runCommand(['deployments', 'list'], { env: { ...env, http_proxy, NO_PROXY: 'invalid' } });
  expect([direct.code, direct.stderr]).toEqual([1, expect.stringMatching(/ENOTFOUND|EAI_AGAIN/)]);
  await new Promise((resolve) => proxy.close(resolve));
  expect(seen).toEqual([
    'GET http://slipway.invalid/api/v1/deployments?limit=100',
    'GET http://slipway.invalid/api/v1/deployments',
  ]);
});

it('translates the requests in texts of operations, as in errors', async () => {
  const message = 'It waits. Resume it with POST /api/v1/operations/op_1/resume.';
  const operation = {
    id: 'op_1',
    kind: 'rollback',
    resource_name: 'chat',
    status: 'waiting',
    message,
    result: {},
    progress: 5,
  };
  const fetch = async () => Response.json({ ...operation, steps: [] });
  const shown = await runCommand(['operations', 'get', 'op_1'], { fetch });
  expect(shown.stdout).toContain('Resume it with slipway operations resume op_1.');
  const steps = [{ index: 0, name: 'copy', status: 'waiting', message }];
  const failed = { ...operation, status: 'failed', error_code: 'internal', retryable: true, completed_at: 'now' };
  const ended = async () => Response.json({ ...failed, steps });
  const waited = await runCommand(['operations', 'wait', 'op_1'], { fetch: ended });
  expect([waited.code, waited.stderr.includes('/api/v1/')]).toEqual([3, false]);
  expect(waited.stderr).toContain('Error: It waits. Resume it with slipway operations resume op_1.');
});
