import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { beginCommand, isInstalled, type CommandResult } from './slipway-command.js';
import { ROOT, Stack, until } from '../harness/stack.js';

jest.setTimeout(180_000);

const sim = (id: string, args: Record<string, unknown> = {}) =>
  JSON.stringify({ model: { id }, runtime: { target: 'local', engine: 'sim', args } });

describe('the command slipway, in pipes, against processes of the product', () => {
  let stack: Stack;
  let home: string;

  const environment = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
    PATH: `${path.join(ROOT, 'node_modules/.bin')}:${path.dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: home,
    SLIPWAY_URL: stack.apiUrl(),
    SLIPWAY_TOKEN: stack.token,
    ...more,
  });
  const begin = (words: string[], stdin = '', env?: NodeJS.ProcessEnv) =>
    beginCommand(words, { cwd: home, env: environment(env), stdin });
  const slipway = (...given: Parameters<typeof begin>): Promise<CommandResult> => begin(...given).ended;

  beforeAll(async () => {
    home = mkdtempSync(path.join(tmpdir(), 'slipway-command-'));
    stack = await Stack.start();
    await slipway(['deployments', 'create', 'chat']);
  });
  afterAll(async () => {
    await stack?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  it('rolls out and waits: data is on stdout, the steps and the key on stderr', async () => {
    writeFileSync(path.join(home, 'spec.json'), sim('one'));
    const create = ['rollouts', 'create', 'chat', '--revision-file', 'spec.json', '--strategy', 'immediate', '--wait'];
    const ran = await slipway([...create, '--json', 'status,resource_name']);
    expect([ran.code, JSON.parse(ran.stdout)]).toEqual([0, { status: 'succeeded', resource_name: 'chat' }]);
    expect(ran.stderr).toMatch(/^Idempotency key: \S+\n/);
    expect(ran.stderr).toMatch(/^promote: succeeded/m);
    const list = await slipway(['operations', 'list', '--kind', 'rollout']);
    // Complete, however long: people copy ids from the output of a pipe.
    expect(list.stdout).toMatch(/\bop_[0-9a-f]{32}\b.* rollout /);
    expect(list.stdout).not.toContain('\u001b');
  });

  it('reports about how long a canary still takes', async () => {
    const patch = [
      '--patch',
      '{"model":{"id":"one-canary"}}',
      '--strategy',
      'canary',
      '--steps',
      '50:2,100:3',
      '--analysis',
      'none',
    ];
    const { code, stderr } = await slipway(['rollouts', 'create', 'chat', ...patch, '--wait']);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^about 0:0[1-5] left/m)]);
  });

  it('reports the result by its exit code', async () => {
    writeFileSync(path.join(home, 'never.json'), sim('never', { never_ready: true }));
    const never = ['rollouts', 'create', 'chat', '--revision-file', 'never.json', '--wait'];
    const failed = await slipway([...never, '--progress-deadline-seconds', '3']);
    expect([failed.code, failed.stderr]).toEqual([3, expect.stringContaining('code: target_not_ready')]);
    const late = await slipway([...never, '--timeout', '1s', '--json', 'id']);
    expect([late.code, late.stdout]).toEqual([5, '']);
    const [, id] = /slipway operations wait (op_\w+)/.exec(late.stderr)!;
    expect((await slipway(['operations', 'cancel', id!, '--yes'])).code).toBe(0);
    const cancelled = await slipway(['operations', 'wait', id!]);
    expect([cancelled.code, cancelled.stderr]).toEqual([2, expect.stringContaining('cancelled_by_user')]);
    const missing = await slipway(['deployments', 'get', 'nobody']);
    expect([missing.code, missing.stdout]).toEqual([6, '']);
    expect(missing.stderr).toMatch(/code: deployment_not_found\n +what to do: .+\n +request: \S+\n/);
    expect((await slipway(['deployments', 'create', 'chat'])).code).toBe(7);
    const stale = ['deployments', 'update', 'chat', '--description', 'a', '--if-match', '"another"', '--yes'];
    expect((await slipway(stale)).code).toBe(7);
    expect((await slipway(['whoami'], '', { SLIPWAY_TOKEN: `slw_nobody_${'x'.repeat(43)}` })).code).toBe(4);
    expect((await slipway(['whoami'], '', { SLIPWAY_URL: '', SLIPWAY_TOKEN: '', SLIPWAY_HOME: home })).code).toBe(4);
    expect((await slipway(['deployments', 'nonsense'])).code).toBe(1);
  });

  it('adopts the request with the same key, and shows the request without the token', async () => {
    const rollback = ['rollouts', 'create', 'chat', '--patch', '{"model":{"id":"two"}}', '--idempotency-key', 'k1'];
    const [first, again] = [
      await slipway([...rollback, '-o', 'name', '-v']),
      await slipway([...rollback, '-o', 'name']),
    ];
    expect([first.code, first.stdout]).toEqual([0, again.stdout]);
    expect(first.stderr).toMatch(/^curl -X POST .*-H 'idempotency-key: k1'.*\/chat\/rollouts\?strict=true'$/m);
    expect(first.stderr + first.stdout).not.toContain(stack.token);
    expect((await slipway(['operations', 'wait', first.stdout.trim()])).code).toBe(0);
  });

  it('changes nothing in production, and deletes nothing, without a confirmation', async () => {
    await slipway(['deployments', 'create', 'shop', '--environment', 'production']);
    for (const words of [
      ['update', 'shop', '--description', 'x'],
      ['delete', 'shop'],
    ]) {
      const ran = await slipway(['deployments', ...words]);
      expect([words, ran.code, ran.stderr]).toEqual([words, 1, expect.stringContaining('--yes')]);
    }
    const { stdout } = await slipway(['deployments', 'get', 'shop', '--json', 'description,state']);
    expect(JSON.parse(stdout)).toMatchObject({ description: null });
    expect((await slipway(['deployments', 'delete', 'shop', '--yes', '--wait'])).code).toBe(0);
    expect((await slipway(['deployments', 'get', 'shop'])).code).toBe(6);
  });

  it('continues to wait when the api dies and comes back', async () => {
    writeFileSync(path.join(home, 'slow.json'), sim('slow', { startup_ms: 4_000 }));
    const { ran, ended } = begin([
      'rollouts',
      'create',
      'chat',
      '--revision-file',
      'slow.json',
      '--wait',
      '-o',
      'json',
    ]);
    await until('the wait tells of a step', async () => /: (running|succeeded)/.test(ran.stderr));
    await stack.kill('api');
    stack.spawn('api');
    await stack.ready();
    const { code, stdout, stderr } = await ended;
    expect([code, stderr]).toEqual([0, expect.stringContaining('await_ready: succeeded')]);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'succeeded' });
  });

  it('continues to watch when the api dies and comes back', async () => {
    const list = ['deployments', 'list', '--watch', '--interval', '200ms', '--jq', '.description'];
    const { child, ran, ended } = begin(list);
    await until('it has looked', async () => ran.stdout !== '');
    await stack.kill('api');
    await until('it says that the api is away', async () => ran.stderr.includes('The api does not respond'));
    stack.spawn('api');
    await stack.ready();
    await slipway(['deployments', 'update', 'chat', '--description', 'after its return', '--yes']);
    await until('it has seen the change', async () => ran.stdout.includes('after its return'));
    child.kill('SIGINT');
    expect([(await ended).code, ran.stderr.match(/does not respond/g)]).toEqual([0, ['does not respond']]);
  });

  it('ends at Ctrl-C, cancels nothing, and prints how to come back', async () => {
    writeFileSync(path.join(home, 'later.json'), sim('later', { startup_ms: 4_000 }));
    const { child, ran, ended } = begin(['rollouts', 'create', 'chat', '--revision-file', 'later.json', '--wait']);
    await until('the wait tells of a step', async () => /: (running|succeeded)/.test(ran.stderr));
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    const [, id] = /To wait again: slipway operations wait (op_\w+)/.exec(stderr) ?? [];
    expect([code, id]).toEqual([2, expect.any(String)]);
    expect((await stack.operation(id!)).status).toBe('succeeded');
  });

  it('refuses a misspelled field before anything happens, and sends it only with --allow-unknown', async () => {
    const create = [
      'rollouts',
      'create',
      'chat',
      '--patch',
      '{"model":{"id":"two"}}',
      '--strategy',
      'candidate',
      '-f',
      '-',
    ];
    const refused = await slipway(create, 'reson: typing');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/reson[^]*--allow-unknown/)]);
    const rehearsed = await slipway([...create, '--dry-run'], 'reson: typing');
    expect([rehearsed.code, rehearsed.stderr]).toEqual([1, expect.stringContaining('reson')]);
    const warned = await slipway([...create, '--allow-unknown', '--wait'], 'reson: typing');
    expect([warned.code, warned.stderr]).toEqual([0, expect.stringMatching(/ignored the unknown field reson/)]);
  });

  it('shows the logs of the instance that serves', async () => {
    const { code, stderr } = await slipway(['logs', 'chat', '--since', '10m']);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^Output of \S+ of chat-\d+ \(ready\)\n$/)]);
  });

  it('follows events as one object per line, and ends at Ctrl-C', async () => {
    const { child, ran, ended } = begin(['events', 'chat', '--follow', '-o', 'json', '--type', 'deployment.updated']);
    await slipway(['deployments', 'update', 'chat', '--description', 'seen', '--yes']);
    await until('it has come', async () => ran.stdout.includes('\n'));
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
    for (const line of ran.stdout.trimEnd().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ type: 'deployment.updated' });
  });

  it('keeps the login in a private file, and needs neither a variable nor a login on the host of a stack', async () => {
    const none = { SLIPWAY_URL: '', SLIPWAY_TOKEN: '', SLIPWAY_HOME: path.join(home, 'none') };
    const login = ['login', 'here', '--url', stack.apiUrl(), '--token-file', '-'];
    expect((await slipway(login, 'slw_no_token', none)).code).toBe(4);
    expect((await slipway(login, stack.token, none)).code).toBe(0);
    expect(statSync(path.join(home, '.config/slipway/contexts.json')).mode & 0o777).toBe(0o600);
    expect((await slipway(['whoami', '-o', 'json'], '', none)).code).toBe(0);
    expect((await slipway(['context', 'list', '-o', 'json'], '', none)).stdout).not.toContain(stack.token);
    expect((await slipway(['logout'], '', none)).code).toBe(0);
    expect((await slipway(['whoami'], '', none)).code).toBe(4);
  });

  it('verifies the audit from outside, and calls endpoints that have no command', async () => {
    const report = async () => JSON.parse((await slipway(['audit', 'verify', '-o', 'json'])).stdout || '[]');
    await until('rows are sealed', async () => (await report())[0]?.sequence > 5);
    const [{ sequence, hash }] = await report();
    expect((await slipway(['audit', 'verify', '--expect-head', `${sequence}:${hash}`])).code).toBe(0);
    expect((await slipway(['audit', 'verify', '--expect-head', `${sequence}:other`])).code).toBe(1);
    const openapi = await slipway(['api', 'GET', '/openapi.json']);
    expect(JSON.parse(openapi.stdout)).toHaveProperty('paths');
    expect((await slipway(['api', 'GET', '/deployments/nobody'])).code).toBe(6);
    expect((await slipway(['api', 'POST', '/deployments', '--fields', 'name=raw'])).code).toBe(0);
  });

  it('transfers files, and completes existing names', async () => {
    const box = (await slipway(['sandboxes', 'create', '-o', 'name'])).stdout.trim();
    expect((await slipway(['files', 'put', box, 'a.txt'], 'from a pipe')).code).toBe(0);
    expect((await slipway(['files', 'get', box, 'a.txt'])).stdout).toBe('from a pipe');
    const complete = async (...words: string[]) => (await slipway(['__complete', ...words])).stdout.trim().split('\n');
    expect(await complete('rollouts', 'p')).toEqual(['promote', 'pause']);
    expect(await complete('rollouts', 'create', 'ch')).toEqual(['chat']);
    expect(await complete('autopilot', '')).toEqual(['diagnose', 'calibration']);
    expect(await complete('autopilot', 'diagnose', 'ch')).toEqual(['chat']);
    expect(await complete('revisions', 'get', 'chat', '')).toContain('chat-00001');
    expect(await complete('deployments', 'create', '--dry')).toEqual(['--dry-run']);
  });

  const shell = (program: string, ...words: string[]) =>
    promisify(execFile)(program, words, { cwd: home, env: environment() }).then(({ stdout }) => stdout);

  it('completes words in bash', async () => {
    const typed = 'COMP_WORDS=(slipway routes get c); COMP_CWORD=3; _slipway; echo "${COMPREPLY[@]}"';
    expect(await shell('bash', '--norc', '-c', `source <(slipway completion bash); ${typed}`)).toBe('chat\n');
    expect((await slipway(['completion', 'cmd'])).code).toBe(1);
  });

  (isInstalled('fish') ? it : it.skip)('completes words in fish, with files if there are no names', async () => {
    writeFileSync(path.join(home, 'a-file.yaml'), '');
    const complete = async (typed: string) => {
      const script = `slipway completion fish | source; complete -C '${typed}'`;
      return (await shell('fish', '--no-config', '-c', script)).trim().split('\n');
    };
    expect(await complete('slipway routes get c')).toEqual(['chat']);
    expect(await complete('slipway rollouts p')).toEqual(['pause', 'promote']);
    expect(await complete('slipway -o json revisions get chat chat-00001')).toEqual(['chat-00001']);
    expect(await complete('slipway apply -f a-f')).toEqual(['a-file.yaml']);
  });

  it('runs each line of docs/cli.md', async () => {
    const other = await Stack.start();
    try {
      const page = readFileSync(path.join(ROOT, 'docs/cli.md'), 'utf8');
      const setUp = /^```bash\n(slipway deployments create[\s\S]*?)^```$/m.exec(page)![1]!;
      const rows = [...page.matchAll(/^\| (\d+) \| `([^`]*slipway [^`]+)` \|$/gm)].map(([, number, line]) => ({
        number,
        line: line!,
      }));
      expect(rows.map(({ number }) => Number(number))).toEqual(Array.from({ length: 16 }, (_, i) => i + 1));
      const script = [setUp, ...rows.map(({ line }) => line)].join('\n');
      const env = environment({ SLIPWAY_URL: other.apiUrl(), SLIPWAY_TOKEN: other.token });
      const ran = await new Promise<CommandResult>((resolve) => {
        const child = execFile(
          'bash',
          ['--norc', '-eo', 'pipefail', '-c', script],
          { cwd: home, env },
          (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
        );
        child.stdin?.end();
      });
      expect([ran.code, ran.code === 0 ? '' : ran.stderr]).toEqual([0, '']);
      expect(ran.stdout).toContain('acme/chat');
    } finally {
      await other.stop();
    }
  });
});
