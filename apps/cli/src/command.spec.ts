import { beforeEach, describe, expect, it } from '@jest/globals';
import { runCommand } from '../test/run-command.js';

const page = (data: object[], next_cursor: string | null = null) => Response.json({ data, next_cursor });
const refusal = (status: number, category: string, more = {}) =>
  Response.json({ error: { code: 'a_code', message: 'It is so.', category, retryable: false, ...more } }, { status });
const refused = async (response: Response) =>
  runCommand(['deployments', 'get', 'chat'], { fetch: async () => response });

it.each([
  ['authentication', 401, 4],
  ['permission', 403, 1],
  ['not_found', 404, 6],
  ['conflict', 409, 7],
  ['precondition', 412, 7],
  ['invalid_request', 422, 1],
])('exits with its own code after a refusal of %s with status %i', async (category, status, code) => {
  expect((await refused(refusal(status, category))).code).toBe(code);
});

it('shows everything in an error that helps, and nothing that a terminal would obey', async () => {
  const more = {
    remediation: 'Look \u001b[31mdown.',
    request_id: 'req_1',
    details: [{ field: 'name', message: 'too long' }],
  };
  const { stdout, stderr } = await refused(refusal(422, 'invalid_request', more));
  expect(stdout).toBe('');
  expect(stderr).toBe(
    'Error: It is so.\n  name: too long\n  code: a_code\n  what to do: Look  [31mdown.\n  request: req_1\n',
  );
});

it('reports a mistake once, and reports why an address does not answer', async () => {
  const repeated = [{ field: 'name', message: 'It is so' }];
  const { stderr } = await refused(refusal(422, 'invalid_request', { details: repeated }));
  expect(stderr).toBe('Error: It is so.\n  code: a_code\n');
  const silent = await runCommand(['deployments', 'list', '--watch'], { env: { SLIPWAY_URL: 'http://127.0.0.1:1' } });
  expect(silent.stderr).toMatch(
    /\n {2}why: .*(ECONNREFUSED|bad port).*\n {2}code: connection_failed\n {2}what to do: .*slipway doctor/,
  );
  const other = await refused(new Response('<html>', { status: 404 }));
  expect(other.stderr).toMatch(
    /is not from the Slipway API\. Check the address\.\n {2}code: unexpected_answer\n {2}what to do: .*slipway doctor/,
  );
});

it('exits diff with 1 only if something differs, not if it was called wrongly', async () => {
  expect((await runCommand(['diff'])).code).toBe(2);
  expect((await runCommand(['diff', '-f', 'gone.yaml'])).code).toBe(2);
  expect((await runCommand(['diff', '--help'])).code).toBe(0);
  const fetch = async () => refusal(404, 'not_found', { code: 'deployment_not_found' });
  const differs = await runCommand(['diff', '-f', '-', '-o', 'json'], { fetch, stdin: 'deployment: { name: a }' });
  expect(differs.stderr).toBe('');
  expect([differs.code, JSON.parse(differs.stdout)]).toEqual([
    1,
    [
      {
        name: 'a',
        changes: [{ kind: 'create', differences: [{ path: 'deployment.name', after: 'a' }] }],
        revision: null,
        operation_id: null,
      },
    ],
  ]);
});

it('reports which fields of --json do not exist', async () => {
  const fetch = async () =>
    page([
      { name: 'a', state: 'active' },
      { name: 'b', labels: {} },
    ]);
  const { stdout, stderr } = await runCommand(['deployments', 'list', '--json', 'name,labels,stat'], { fetch });
  expect(JSON.parse(stdout)[0]).toEqual({ name: 'a', labels: null, stat: null });
  expect(stderr).toBe('Warning: No such field: stat. Available fields: name, state, labels\n');
  expect((await runCommand(['deployments', 'list', '--json', 'stat'], { fetch: async () => page([]) })).stderr).toBe(
    '',
  );
});

it('reads as many pages as it needs, and reports when there are more rows', async () => {
  const asked: string[] = [];
  const fetch = async (url: unknown) => {
    asked.push(new URL(String(url)).search);
    return asked.length % 2 ? page([{ name: 'a' }, { name: 'b' }], 'next') : page([{ name: 'c' }]);
  };
  expect((await runCommand(['deployments', 'list', '-o', 'name'], { fetch })).stdout).toBe('a\nb\nc\n');
  expect(asked[1]).toContain('cursor=next');
  const two = await runCommand(['deployments', 'list', '-o', 'name', '--limit', '2'], { fetch });
  expect([two.stdout, two.stderr]).toEqual(['a\nb\n', expect.stringContaining('There are more rows')]);
  expect((await runCommand(['deployments', 'list', '--limit', 'none'], { fetch })).code).toBe(1);
});

it('watches: prints one object per line, and prints it again only after a change', async () => {
  const stop = new AbortController();
  const states = [
    ['one', 'two'],
    ['one', 'three'],
    ['one', 'three'],
  ];
  let reads = 0;
  const fetch = async () => {
    const [a, b] = states[Math.min(reads, 2)]!;
    reads += 1;
    if (reads === 3) stop.abort();
    return page([
      { name: 'a', state: a },
      { name: 'b', state: b },
    ]);
  };
  const { code, stdout } = await runCommand(
    ['deployments', 'list', '--watch', '--interval', '1ms', '--json', 'name,state'],
    { fetch, signal: stop.signal },
  );
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect([code, lines.map(({ name, state }) => `${name} ${state}`)]).toEqual([0, ['a one', 'b two', 'b three']]);
});

it('continues to watch after the api was away, and reports that once; an api that never answered is an error', async () => {
  const stop = new AbortController();
  let reads = 0;
  const fetch = async () => {
    reads += 1;
    if (reads > 1 && reads < 5) throw new TypeError('refused');
    if (reads === 6) stop.abort();
    return page([{ name: 'a', state: reads === 1 ? 'one' : 'two' }]);
  };
  const list = ['deployments', 'list', '--watch', '--interval', '1ms', '--jq', '.state'];
  const { code, stdout, stderr } = await runCommand(list, { fetch, signal: stop.signal });
  expect([code, stdout]).toEqual([0, 'one\ntwo\n']);
  expect(stderr).toBe('Warning: The api does not respond (connection_failed). Waiting until it does.\n');
  const never = await runCommand(list, { fetch: () => Promise.reject(new TypeError('refused')) });
  expect([never.code, never.stderr]).toEqual([1, expect.stringContaining('code: connection_failed')]);
  const { code: refusedAs } = await runCommand(list, {
    fetch: async () => (reads++ % 2 ? page([]) : refusal(401, 'authentication')),
  });
  expect(refusedAs).toBe(4);
});

it('continues to follow events after the api was away, and reports that once', async () => {
  const stop = new AbortController();
  const streamOf = (...sequences: number[]) =>
    new Response(sequences.map((one) => `retry: 1\nid: ${one}\ndata: {"sequence":${one}}\n\n`).join(''), {
      headers: { 'content-type': 'text/event-stream' },
    });
  let streams = 0;
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    if (new Headers(init?.headers).get('accept') !== 'text/event-stream') return page([]);
    streams += 1;
    if (streams > 1 && streams < 4) throw new TypeError('refused');
    if (streams === 5) stop.abort();
    return streamOf(streams);
  };
  const follow = ['events', 'chat', '--follow', '--jq', '.sequence'];
  const { code, stdout, stderr } = await runCommand(follow, { fetch, signal: stop.signal });
  expect([code, stdout]).toEqual([0, '1\n4\n']);
  expect(stderr).toBe('Warning: The api does not respond (connection_failed). Waiting until it does.\n');
});

it('keeps its key through retries, and makes a new key for a new call', async () => {
  const keys: (string | null)[] = [];
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    keys.push(new Headers(init?.headers).get('idempotency-key'));
    if (keys.length === 1) return refusal(503, 'internal', { retryable: true });
    return Response.json({ operation: { id: 'op_1' } }, { status: 202 });
  };
  const words = ['rollback', 'chat', '--yes', '-o', 'name'];
  const first = await runCommand(words, { fetch });
  const second = await runCommand(words, { fetch });
  expect([first.stdout, keys.length, keys[0] === keys[1], keys[1] === keys[2]]).toEqual(['op_1\n', 3, true, false]);
  expect(first.stderr).toBe(`Idempotency key: ${keys[0]}\n`);
  expect(second.code).toBe(0);
});

it('sends nothing that changes production until its name is typed', async () => {
  const methods: string[] = [];
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    methods.push(init?.method ?? 'GET');
    return Response.json({ name: 'shop', environment: 'Production', operation: { id: 'op_1' } });
  };
  const rollback = ['rollback', 'shop'];
  expect((await runCommand(rollback, { fetch })).code).toBe(1);
  expect((await runCommand(rollback, { fetch, columns: 80, stdin: 'chat\n' })).code).toBe(2);
  expect(methods).toEqual(['GET', 'GET']);
  expect((await runCommand(rollback, { fetch, columns: 80, stdin: 'shop\n' })).code).toBe(0);
  expect(methods).toEqual(['GET', 'GET', 'GET', 'POST']);
  // A pipeline has no one to prompt, even in a terminal.
  expect((await runCommand(rollback, { fetch, columns: 80, stdin: 'shop\n', env: { CI: '1' } })).code).toBe(1);
});

it('makes the body from a file and from flags, and flags take precedence', async () => {
  let sent: unknown;
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    if (init?.body) sent = JSON.parse(String(init.body));
    return Response.json({ operation: { id: 'op_1' } });
  };
  const words = ['rollouts', 'create', 'chat', '-f', '-', '--strategy', 'canary', '--steps', '10:60,100', '--yes'];
  const { code } = await runCommand(words, { fetch, stdin: 'reason: why\nstrategy:\n  type: immediate\n' });
  const steps = [{ traffic_percent: 10, soak_seconds: 60 }, { traffic_percent: 100 }];
  expect([code, sent]).toEqual([0, { reason: 'why', strategy: { type: 'canary', steps } }]);
  await runCommand(['rollouts', 'create', 'chat', '--yes', '--patch', '{}', '--analysis', 'none'], { fetch });
  expect(sent).toEqual({ spec_patch: {}, analysis: { mode: 'none' } });
  for (const wrong of [
    ['--steps', 'ten'],
    ['--patch', '{'],
    ['-f', 'no-such-file'],
  ])
    expect((await runCommand(['rollouts', 'create', 'chat', '--yes', ...wrong], { fetch })).code).toBe(1);
});

it('refuses an invalid time for a wait before any work begins', async () => {
  let calls = 0;
  const fetch = async () => {
    calls += 1;
    return Response.json({});
  };
  expect((await runCommand(['rollback', 'chat', '--wait', '--timeout', 'soon', '--yes'], { fetch })).code).toBe(1);
  expect(calls).toBe(0);
});

it('shows a request as a line of curl that can be run, without the token', async () => {
  const fetch = async () => Response.json({ name: 'x' }, { headers: { 'x-request-id': 'req_9' } });
  const { stderr } = await runCommand(['deployments', 'create', 'x', '--description', "it's", '-v'], { fetch });
  expect(stderr).toContain(`-H "authorization: Bearer $SLIPWAY_TOKEN"`);
  expect(stderr).toContain(
    `-d '{"description":"it'\\''s","name":"x"}' 'http://slipway.test/api/v1/deployments?strict=true'`,
  );
  expect(stderr).toContain('< 200 request req_9');
  expect(stderr).not.toContain('slw_a_b');
});

it('sends its token only to the address of its context', async () => {
  const asked: string[] = [];
  const fetch = async (url: unknown) => {
    asked.push(String(url));
    return Response.json({});
  };
  for (const elsewhere of ['https://evil.test/', '//evil.test/', 'http://slipway.test@evil.test/'])
    expect((await runCommand(['api', 'GET', elsewhere], { fetch })).code).toBe(1);
  for (const path of ['/@evil.test/', '@evil.test/']) await runCommand(['api', 'GET', path], { fetch });
  expect(asked).toEqual(Array(2).fill('http://slipway.test/api/v1/@evil.test/'));
});

it('filters as jq does: prints text unquoted and the rest as JSON, one result per line', async () => {
  const fetch = async () =>
    page([
      { name: 'a', state: 'active', labels: { team: 'x' } },
      { name: 'b', state: 'failed', labels: {} },
    ]);
  const list = (...words: string[]) => runCommand(['deployments', 'list', ...words], { fetch });
  expect(await list('--jq', '.[].name')).toEqual({ code: 0, stdout: 'a\nb\n', stderr: '' });
  expect((await list('--jq', 'map(select(.state == "failed")) | length, .[0].labels')).stdout).toBe('1\n{}\n');
  expect((await list('-q', '.[0].none, .[0].none[0], {n: .[0].none}')).stdout).toBe('null\nnull\n{"n":null}\n');
  expect((await list('--json', 'name', '--jq', '.[0]')).stdout).toBe('{"name":"a"}\n');
  expect(await list('--jq', '.[')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('--jq: ') });
  expect(await list('--jq', 'range(1; infinite)')).toMatchObject({ code: 1, stdout: '' });
  expect(await list('--jq', '.', '-o', 'yaml')).toMatchObject({ code: 1, stderr: expect.stringContaining('Omit -o') });
  expect((await runCommand(['api', 'GET', '/deployments', '--jq', '.data[1].name'], { fetch })).stdout).toBe('b\n');
});

it('warns of unknown fields, with the field that was probably meant if the api knows one', async () => {
  const warnings = [
    { code: 'unknown_field', field: 'spec_patch.labels' },
    { code: 'unknown_field', field: 'reson', message: 'did you mean `reason`?' },
    { code: 'no_route', field: 'strategy', message: 'Set a route.' },
  ];
  const fetch = async () => Response.json({ name: 'chat', warnings }, { status: 201 });
  const { code, stderr } = await runCommand(['deployments', 'create', 'chat', '--json', 'name'], { fetch });
  expect([code, stderr.split('\n').filter((line) => line.startsWith('Warning:'))]).toEqual([
    0,
    [
      'Warning: The api ignored the unknown field spec_patch.labels.',
      'Warning: The api ignored the unknown field reson; did you mean `reason`?',
      'Warning: Set a route.',
    ],
  ]);
});

it.each([
  ['no message', { code: 'no_route', field: 'strategy' }, 'no_route: strategy'],
  ['null for a message', { code: 'unknown_field', field: 'a', message: null }, 'The api ignored the unknown field a.'],
  ['a number for a message', { code: 'later', field: 'a', message: 7 }, '7'],
  ['an object for a message', { code: 'later', message: { text: 'b' } }, '{"text":"b"}'],
  ['no code and no field', {}, '{}'],
  ['only text', 'as it was', 'as it was'],
  ['nothing', null, 'The api sent an empty warning.'],
  ['a list', [['a']], '[["a"]]'],
  ['commands of a terminal', { code: '\u001b[2J', field: ['x'] }, ' [2J: ["x"]'],
])('shows a warning with %s, and then the answer', async (_what, warning, shown) => {
  const fetch = async () => Response.json({ name: 'chat', warnings: [warning] }, { status: 201 });
  const words = ['deployments', 'create', 'chat', '-o', 'name'];
  expect(await runCommand(words, { fetch })).toEqual({ code: 0, stdout: 'chat\n', stderr: `Warning: ${shown}\n` });
});

it('shows an answer whose warnings are no list, and an error whose texts are no text', async () => {
  for (const warnings of ['none', 7, { code: 'a' }, null]) {
    const fetch = async () => Response.json({ name: 'chat', warnings });
    expect((await runCommand(['deployments', 'create', 'chat'], { fetch })).code).toBe(0);
  }
  const odd = { details: [null, { field: 7, message: { a: 1 } }, 'x'], remediation: ['do'], request_id: 9 };
  const { code, stderr } = await refused(refusal(422, 'invalid_request', odd));
  expect([code, stderr]).toEqual([1, expect.stringContaining('  7: {"a":1}\n')]);
  expect((await refused(refusal(422, 'invalid_request', { details: 'none' }))).stderr).toContain('code: a_code');
});

it('shows a row whose fields are not as expected', async () => {
  const rows = [{ name: 'a', labels: 7, replicas: 'many', draining: { revisions: 'all' }, waiting_for: { a: 1 } }];
  const { code, stdout } = await runCommand(['deployments', 'list', '-o', 'wide'], { fetch: async () => page(rows) });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^a /m)]);
});

it('shows the warnings of a rehearsal', async () => {
  const warnings = [{ code: 'no_route', field: 'strategy', message: 'Set PUT /api/v1/deployments/chat/route.' }];
  const fetch = async () => Response.json({ valid: true, would: 'create chat', steps: [], diff: [], warnings });
  const { code, stderr } = await runCommand(['deployments', 'create', 'chat', '--dry-run'], { fetch });
  expect([code, stderr]).toEqual([0, 'Warning: Set slipway route set chat.\n']);
});

it('lets the api refuse unknown fields, and says how to send them', async () => {
  const asked: string[] = [];
  const details = [{ field: 'reson', code: 'unknown_field', message: 'reson is not a known field' }];
  const fetch = async (url: unknown) => {
    asked.push(new URL(String(url)).search);
    return refusal(422, 'invalid_request', { code: 'validation_failed', details });
  };
  const create = ['deployments', 'create', 'chat', '-f', '-'];
  const { code, stderr } = await runCommand(create, { fetch, stdin: 'reson: why' });
  expect([code, stderr]).toEqual([1, expect.stringContaining('pass --allow-unknown')]);
  await runCommand([...create, '--allow-unknown'], { fetch, stdin: 'reson: why' });
  await runCommand([...create, '--dry-run'], { fetch, stdin: 'reson: why' });
  expect(asked).toEqual(['?strict=true', '', '?validate_only=true&strict=true']);
});

describe('a rollout without a strategy', () => {
  let sent: any[];
  let ofDeployment: object | null;
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    if (init?.method === 'POST') sent.push(JSON.parse(String(init.body)));
    return Response.json({ name: 'chat', default_strategy: ofDeployment, operation: { id: 'op_1' } });
  };
  const create = (options: object, ...more: string[]) =>
    runCommand(['rollouts', 'create', 'chat', '--patch', '{}', '-o', 'name', ...more], { fetch, ...options });
  const inTerminal = (answer: string) => ({ columns: 100, stdin: `${answer}\n` });
  beforeEach(() => {
    sent = [];
    ofDeployment = null;
  });

  it('asks in a terminal', async () => {
    expect((await create(inTerminal('canary'))).code).toBe(0);
    expect((await create(inTerminal(''))).code).toBe(0);
    expect(sent).toEqual(['canary', 'candidate'].map((type) => ({ spec_patch: {}, strategy: { type } })));
    const wrong = await create(inTerminal('canry'));
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('canry is not a strategy')]);
    expect(sent).toHaveLength(2);
  });

  it('names the consequence before it starts if there is no terminal to ask in', async () => {
    for (const ran of [await create({}), await create(inTerminal('canary'), '--yes')])
      expect([ran.code, ran.stderr]).toEqual([
        0,
        expect.stringMatching(/chat has no default strategy .* get no traffic.*\n[^]*Idempotency key/),
      ]);
    expect(sent).toEqual([{ spec_patch: {} }, { spec_patch: {} }]);
  });

  it('asks and warns of nothing if the deployment, the rollout or its plan has a strategy', async () => {
    ofDeployment = { type: 'canary' };
    const quiet = [await create({})];
    ofDeployment = null;
    quiet.push(await create({}, '--strategy', 'immediate'));
    quiet.push(await runCommand(['rollouts', 'create', 'chat', '--plan', 'plan_1'], { fetch }));
    for (const { code, stderr } of quiet) expect([code, stderr]).toEqual([0, expect.not.stringContaining('strategy')]);
  });
});
