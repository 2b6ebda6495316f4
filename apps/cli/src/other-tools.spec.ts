import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { runCommand, wordsOf } from '../test/run-command.js';
import { hintLines } from './habits.js';

const folder = mkdtempSync(path.join(tmpdir(), 'slipway-habits-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const page = (data: object[]) => Response.json({ data, next_cursor: null });
const notFound = () =>
  Response.json(
    { error: { code: 'deployment_not_found', message: 'It does not exist.', category: 'not_found', retryable: false } },
    { status: 404 },
  );

/** Collects the requests of a command. */
function recording(answer: () => Response = () => page([])) {
  const asked: { method: string; url: string; body?: unknown }[] = [];
  const fetch: typeof globalThis.fetch = async (input, { method = 'GET', body } = {}) => {
    const url = String(input).replace('http://slipway.test', '');
    asked.push({ method, url, ...(typeof body === 'string' && { body: JSON.parse(body) as unknown }) });
    return answer();
  };
  return { asked, fetch };
}

it.each([
  [['rollout', 'undo', 'deployment/chat'], 'slipway rollback <deployment>'],
  [['rollouts', 'status', 'chat'], 'slipway rollouts watch <deployment>'],
  [['wait', '--for=condition=Ready', 'deployment/chat'], 'slipway operations wait'],
  [['explain', 'deployment.spec'], 'slipway schema'],
  [['edit', 'deployment', 'chat'], 'slipway export'],
  [['create', '-f', 'a.yaml'], 'slipway apply -f'],
  [['auth', 'status'], 'slipway whoami'],
  [['config', 'use-context', 'prod'], 'slipway context use'],
  [['deployments', 'get', 'chat', '-w'], '--watch'],
  [['deployments', 'list', '--template', '{{.name}}'], '--json name,state'],
  [['deployments', 'list', '--sort-by=.name'], '-q '],
  [['-n', 'prod', 'deployments', 'list'], '--context'],
  [['deployments', 'delete', 'chat', '--force'], '--yes'],
  [['deployments', 'list', '-o', 'jsonpath={.items[0].name}'], "-q '.[].name'"],
  [['deployments', 'list', '-o=go-template={{.x}}'], '--json name,state'],
  [['api', '/deployments', '--paginate'], '--limit'],
  [['deployments', 'create', 'a', '--dry-run=client'], '--dry-run takes no value'],
  [['deployments', 'delete', 'a', '--wait=false'], '--wait takes no value'],
  [['rollout', 'restart', 'deployment/chat'], 'slipway deployments restart <deployment>'],
  [['restart', 'chat'], 'Try: slipway deployments restart <deployment>'],
])('names what does the same for %j, and sends nothing', async (words, hint) => {
  const { asked, fetch } = recording();
  const { code, stdout, stderr } = await runCommand(words, { fetch });
  expect([code, stdout, asked]).toEqual([1, '', []]);
  expect(stderr).toMatch(/^error: /);
  expect(stderr).toContain(hint);
  expect(stderr).not.toContain('Did you mean');
});

it('hints only at commands and flags that exist', async () => {
  const faults = [];
  for (const line of new Set(hintLines())) {
    const [, ...words] = wordsOf(
      line
        .split(' > ')[0]!
        .replace(/<file>|file\.yaml/g, 'gone.yaml')
        .replace(/<[^>]+>/g, 'a'),
    );
    const { stderr } = await runCommand(words, { fetch: async () => notFound(), stdin: 'a_token' });
    if (/^error: /m.test(stderr)) faults.push([line, stderr]);
  }
  expect(faults).toEqual([]);
});

it.each([
  [['deployments', 'get', 'deployment/chat'], '/api/v1/deployments/chat'],
  [['deployments', 'get', 'deployments.apps/chat'], '/api/v1/deployments/chat'],
  [['revisions', 'list', 'deploy/chat'], '/api/v1/deployments/chat/revisions?limit=100'],
  // The slug of a product has a slash.
  [['products', 'get', 'prd_1/chat'], '/api/v1/admin/model-api/products/prd_1%2Fchat'],
])('understands the names in %j', async (words, url) => {
  const { asked, fetch } = recording(() => Response.json({ data: [], next_cursor: null, name: 'chat' }));
  expect((await runCommand(words, { fetch })).code).toBe(0);
  expect(asked.map((one) => one.url)).toEqual([url]);
});

it.each([['history'], ['list']])('rollouts %s refuses a deployment that does not exist', async (verb) => {
  const fetch: typeof globalThis.fetch = async (url) =>
    String(url).includes('/deployments/nope') ? notFound() : page([]);
  const { code, stdout, stderr } = await runCommand(['rollouts', verb, 'nope'], { fetch });
  expect([code, stdout, stderr]).toEqual([6, '', expect.stringContaining('deployment_not_found')]);
});

it('takes a value after a short flag and =, and the words version and help', async () => {
  const { fetch } = recording(() => page([{ name: 'chat' }]));
  expect((await runCommand(['deployments', 'list', '-o=name'], { fetch })).stdout).toBe('chat\n');
  expect((await runCommand(['deployments', 'list', '-L=1', '-q=.[].name'], { fetch })).stdout).toBe('chat\n');
  expect(await runCommand(['version'])).toMatchObject({ code: 0, stdout: '0.0.0\n' });
  expect((await runCommand(['help', 'deployments', 'list'])).stdout).toContain('slipway deployments list|ls');
  for (const words of [
    ['completion', 'zsh'],
    ['completion', '-s', 'zsh'],
    ['completion', '--shell=zsh'],
  ])
    expect((await runCommand(words)).stdout).toMatch(/^#compdef slipway/);
});

it('adds the pairs of a repeated flag, and sends the fields of a read as parameters', async () => {
  const { asked, fetch } = recording(() => Response.json({ name: 'chat' }));
  await runCommand(['api', 'deployments', '-F', 'name=chat', '-F', 'environment=prod'], { fetch });
  await runCommand(['deployments', 'create', 'chat', '-l', 'a=1', '-l', 'b=2'], { fetch });
  await runCommand(['api', '-X', 'GET', 'deployments', '-F', 'limit=1'], { fetch });
  await runCommand(['api', 'http://slipway.test/api/v1/deployments?a=b', '-X', 'GET', '-F', 'c=d&e'], { fetch });
  expect(asked).toEqual([
    { method: 'POST', url: '/api/v1/deployments', body: { name: 'chat', environment: 'prod' } },
    { method: 'POST', url: expect.any(String), body: { name: 'chat', labels: { a: '1', b: '2' } } },
    { method: 'GET', url: '/api/v1/deployments?limit=1' },
    { method: 'GET', url: '/api/v1/deployments?a=b&c=d%26e' },
  ]);
  for (const other of ['http://other.test/api/v1/deployments', 'http://slipway.test.other/x', '//other.test/x'])
    expect(await runCommand(['api', other], { fetch })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not a path'),
    });
  expect(asked).toHaveLength(4);
});

it('reads the files of a folder, and says what else is no file', async () => {
  const files = path.join(folder, 'all');
  mkdirSync(files);
  writeFileSync(path.join(files, 'b.yml'), 'deployment: { name: b }');
  writeFileSync(path.join(files, 'a.yaml'), 'deployment: { name: a }');
  writeFileSync(path.join(files, 'README.md'), 'no deployment');
  const diff = await runCommand(['diff', '-f', files, '-o', 'name'], { fetch: async () => notFound() });
  expect(diff).toMatchObject({ code: 1, stdout: 'a\nb\n' });
  mkdirSync(path.join(folder, 'empty'));
  for (const [file, hint] of [
    [path.join(folder, 'empty'), 'has no file that ends in .yaml'],
    ['https://slipway.invalid/a.yaml', 'curl -fsSL https://slipway.invalid/a.yaml | slipway'],
  ] as const)
    expect((await runCommand(['apply', '-f', file])).stderr).toContain(hint);
  expect((await runCommand(['api', '/deployments', '-f', 'name=chat'])).stderr).toContain('--fields name=chat');
  expect((await runCommand(['deployments', 'create', 'a', '-f', '@a.json'])).stderr).toContain('Leave out the @');
});

it('says what the filter of a list begins with', async () => {
  const { fetch } = recording(() => page([{ name: 'chat' }]));
  expect((await runCommand(['deployments', 'list', '-q', '.items[].name'], { fetch })).stderr).toContain('.[].name');
});

it('never shows a token that cannot be sent, and takes one that was pasted with its scheme', async () => {
  for (const token of ['slw_a_b\nc', 'slw_a_b c', 'slw_a_bß'])
    expect(await runCommand(['deployments', 'list'], { env: { SLIPWAY_TOKEN: token } })).toEqual({
      code: 4,
      stdout: '',
      stderr: expect.stringMatching(/^Error: SLIPWAY_TOKEN is invalid: (?![^]*slw_)/),
    });
  const sent: (string | null)[] = [];
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    sent.push(new Headers(init?.headers).get('authorization'));
    return page([]);
  };
  for (const token of ['Bearer slw_a_b', ' slw_a_b\n', 'bearer  slw_a_b'])
    await runCommand(['deployments', 'list'], { fetch, env: { SLIPWAY_TOKEN: token } });
  expect(new Set(sent)).toEqual(new Set(['Bearer slw_a_b']));
});

it('says that an address is that of a gateway, or an address at all', async () => {
  const error = {
    message: 'Unknown request URL: GET /api/v1/deployments.',
    type: 'invalid_request_error',
    code: 'unknown_url',
  };
  const fetch = async () => Response.json({ error }, { status: 404 });
  const { code, stderr } = await runCommand(['deployments', 'list'], { fetch });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/gateway, not of the api\.\n {2}code: unknown_url/)]);
  expect((await runCommand(['login', 'http://slipway.test'])).stderr).toContain(
    'slipway login --url http://slipway.test',
  );
});
