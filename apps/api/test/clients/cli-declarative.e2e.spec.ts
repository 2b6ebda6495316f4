import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Slipway } from '@slipway/sdk';
import { codeOf } from '../harness/refusals.js';
import { beginCommand, type CommandResult } from './slipway-command.js';
import { ROOT, Stack, until } from '../harness/stack.js';

jest.setTimeout(120_000);

interface CommandInput {
  url?: string;
  stdin?: string;
  env?: Record<string, string>;
}

/** A deployment with everything that a file can contain. */
const file = (name: string, ttft: number, more = '') => `
deployment:
  name: ${name}
  description: From a file
  labels: { team: search }
spec:
  model: { id: one }
  runtime: { target: local, engine: sim, args: { ttft_ms: ${ttft} } }
strategy: { type: immediate }
gates:
  metrics: [{ name: error_rate, check: threshold, threshold: 0.1 }]
route:
  targets: [{ revision: self, weight: 100 }]
  affinity: { mode: none }
policy:
  mode: observe
  slos: [{ metric: ttft_ms, threshold: 500 }]
${more}`;

describe('deployments as files, with the bundled command against processes of the product', () => {
  let stack: Stack;
  let slipway: Slipway;
  let folder: string;

  beforeAll(async () => {
    stack = await Stack.start({ config: () => 'quotas: { webhooks: 50 }\n' });
    slipway = stack.slipway();
    folder = mkdtempSync(path.join(tmpdir(), 'slipway-files-'));
  });
  afterAll(async () => {
    await stack?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = (args: string[], { url = stack.apiUrl(), stdin = '', env: more = {} }: CommandInput = {}) => {
    const env = { PATH: process.env['PATH'], SLIPWAY_URL: url, SLIPWAY_TOKEN: stack.token, HOME: folder, ...more };
    return beginCommand(args, { cwd: folder, env, stdin });
  };
  const run = (args: string[], options: CommandInput = {}) => start(args, options).ended;
  const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);
  const applied = ({ stdout }: CommandResult) =>
    JSON.parse(stdout) as { name: string; outcome: string; changes: string[] }[];
  const revisions = async (name: string) => (await slipway.deployments.revisions.list(name)).data;

  it('creates missing resources, and changes nothing the second time', async () => {
    write('chat.yaml', file('chat', 5));
    expect((await run(['diff', '-f', 'chat.yaml'])).code).toBe(1);
    const rehearsal = await run(['apply', '-f', 'chat.yaml', '--dry-run=server']);
    expect(rehearsal).toMatchObject({ code: 0, stdout: expect.stringContaining('+ spec.runtime.args.ttft_ms: 5') });
    expect(rehearsal.stderr).toContain('rollout can be checked after the deployment is created');
    expect(await codeOf(slipway.deployments.get('chat'))).toBe('404 deployment_not_found');

    const first = await run(['apply', '-f', 'chat.yaml', '-o', 'json']);
    expect([first.code, first.stderr]).toEqual([0, expect.stringContaining('promote: succeeded')]);
    expect(applied(first)).toMatchObject([
      { name: 'chat', outcome: 'created', changes: ['create', 'policy', 'rollout', 'route'] },
    ]);
    const second = await run(['apply', '-f', 'chat.yaml', '-o', 'json']);
    expect(applied(second)).toMatchObject([{ outcome: 'unchanged', changes: [], revision: 'chat-00001' }]);
    expect(await run(['diff', '-f', 'chat.yaml'])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await revisions('chat')).toHaveLength(1);
  });

  it('accepts the file in its README', async () => {
    const readme = readFileSync(path.join(ROOT, 'apps/cli/README.md'), 'utf8');
    const text = (/```yaml\n([^`]+)```/.exec(readme) as RegExpExecArray)[1]!.replace('name: chat', 'name: readme');
    expect(applied(await run(['apply', '-f', '-', '-o', 'json'], { stdin: text }))).toMatchObject([
      { name: 'readme', outcome: 'created', changes: ['create', 'policy', 'rollout'] },
    ]);
    expect(await run(['diff', '-f', '-'], { stdin: text })).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('rolls out differences, and keeps the fields that the file does not name', async () => {
    await slipway.deployments.update('chat', { display_name: 'Chat', labels: { owner: 'us' } });
    write('chat.yaml', file('chat', 6).replace('From a file', 'Another'));
    const diff = await run(['diff', '-f', 'chat.yaml']);
    expect(diff.code).toBe(1);
    expect(diff.stdout.split('\n').filter((line) => line.startsWith('  '))).toEqual([
      '  ~ deployment.description: "From a file" -> "Another"',
      '  ~ spec.runtime.args.ttft_ms: 5 -> 6',
      '  ~ route.targets: [{"revision":"chat-00001","weight":100}] -> [{"revision":"self","weight":100}]',
    ]);
    const rehearsal = await run(['apply', '-f', 'chat.yaml', '--dry-run=server']);
    expect(rehearsal.stderr).toContain('the server would roll out chat-00002: validate, provision');
    const both = `${file('chat', 6).replace('From a file', 'Another')}\n---\n${file('other', 5)}`;
    const result = await run(['apply', '-f', '-', '-o', 'json'], { stdin: both });
    expect(applied(result)).toMatchObject([
      { name: 'chat', outcome: 'changed', changes: ['update', 'rollout'], revision: 'chat-00002' },
      { name: 'other', outcome: 'created' },
    ]);
    expect(await slipway.deployments.get('chat')).toMatchObject({
      display_name: 'Chat',
      labels: { owner: 'us', team: 'search' },
      description: 'Another',
    });
  });

  it('exports a file for which diff finds no changes', async () => {
    const exported = await run(['export', 'chat', 'other']);
    expect(exported).toMatchObject({ code: 0, stdout: expect.stringContaining('revision: self') });
    expect(await run(['diff', '-f', '-'], { stdin: exported.stdout })).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await run(['export', 'nobody'])).code).toBe(6);
  });

  it('changes settings alone, and asks first in production', async () => {
    await slipway.deployments.update('other', { environment: 'production' });
    const steps = 'steps: [{ traffic_percent: 50 }, { traffic_percent: 100 }]';
    write('other.yaml', file('other', 5).replace('{ type: immediate }', `{ type: canary, ${steps} }`));
    const unasked = await run(['apply', '-f', 'other.yaml']);
    expect([unasked.code, unasked.stderr]).toEqual([1, expect.stringContaining('other is in production')]);
    const sure = await run(['apply', '-f', 'other.yaml', '--yes', '-o', 'json']);
    expect(applied(sure)).toMatchObject([{ outcome: 'changed', changes: ['update'] }]);
    // The values that the api fills into the steps are no difference.
    expect(await run(['diff', '-f', 'other.yaml'])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await run(['apply', '-f', 'other.yaml'])).code).toBe(0);
  });

  it('reports a failure by its exit code, and can be repeated', async () => {
    write('broken.yaml', file('chat', 7).replace('ttft_ms: 7', 'ttft_ms: 7, never_ready: true'));
    const late = await run(['apply', '-f', 'broken.yaml', '--timeout', '1s']);
    expect([late.code, late.stderr]).toEqual([
      5,
      expect.stringContaining('To wait again: slipway operations wait op_'),
    ]);
    const { current_operation_id: id } = await slipway.deployments.get('chat');
    // The command joins the running operation instead of a new one: the same operation fails.
    const waiting = start(['apply', '-f', 'broken.yaml']);
    await until('it waits', async () => waiting.ran.stderr.includes(`the rollout is already in progress: ${id}`));
    await slipway.operations.cancel(id!);
    expect((await waiting.ended).code).toBe(2);
    const again = await run(['apply', '-f', 'broken.yaml', '--wait=false', '-o', 'json']);
    expect(again.code).toBe(0);
    const [{ operation_id: next }] = JSON.parse(again.stdout);
    expect(next).not.toBe(id);
    expect((await run(['diff', '-f', 'broken.yaml', '-f', 'gone.yaml'])).code).toBe(2);
    const refused = await run(['apply', '-f', '-'], { stdin: file('chat', 8) });
    expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining('operation_in_progress')]);
    await slipway.operations.cancel(next);
    await stack.operation(next, ['cancelled']);
  });

  it('reaches the same end state after a kill at any call', async () => {
    const text = file('killed', 5);
    for (let calls = 1; calls <= 4; calls += 1) {
      const name = `killed-${calls}`;
      const own = text.replace('name: killed', `name: ${name}`);
      let seen = 0;
      const proxy = await Proxy.start(stack.apiUrl(), async (method) => {
        if (method !== 'GET') seen += 1;
        if (method !== 'GET' && seen === calls) killed.child.kill('SIGKILL');
      });
      const killed = start(['apply', '-f', '-'], { url: proxy.url, stdin: own });
      expect(await killed.ended).toMatchObject({ code: null });
      await proxy.stop();
      const next = await run(['apply', '-f', '-', '-o', 'json'], { stdin: own });
      expect([next.code, next.stderr]).toEqual([0, expect.not.stringContaining('Error')]);
      const last = await run(['apply', '-f', '-', '-o', 'json'], { stdin: own });
      expect(applied(last)).toMatchObject([{ name, outcome: 'unchanged', changes: [] }]);
      expect(await revisions(name)).toHaveLength(1);
      const { data } = await slipway.operations.list({ resource_name: name });
      expect(data).toMatchObject([{ kind: 'rollout', status: 'succeeded' }]);
    }
  });

  it('continues to wait when the api comes back', async () => {
    write('slow.yaml', file('slow', 5).replace('ttft_ms: 5', 'ttft_ms: 5, startup_ms: 4000'));
    const waiting = start(['apply', '-f', 'slow.yaml', '-o', 'json']);
    await until('it waits', async () => waiting.ran.stderr.includes('await_ready: running'));
    await stack.kill('api');
    stack.spawn('api');
    await stack.ready();
    const ended = await waiting.ended;
    expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining('promote: succeeded')]);
    expect(applied(ended)).toMatchObject([{ name: 'slow', outcome: 'created' }]);
  });

  it('has a doctor that finds nothing wrong, and then the file that the server refuses', async () => {
    const env = { DATABASE_URL: stack.testDatabase.url, SLIPWAY_API_PORT: new URL(stack.apiUrl()).port };
    const look = async () => {
      const findings = JSON.parse((await run(['doctor', '-o', 'json'], { env })).stdout) as Record<string, string>[];
      return Object.fromEntries(findings.map(({ check, verdict, message }) => [check, `${verdict} ${message}`]));
    };
    expect(await look()).toMatchObject({
      api: expect.stringMatching(/^ok .* is ready$/),
      'api port': expect.stringMatching(/^ok Slipway listens/),
      postgres: expect.stringMatching(/^ok Postgres responds/),
      clock: expect.stringMatching(/^ok/),
      login: expect.stringMatching(/^ok .*admin/),
      targets: expect.stringMatching(/^ok .*local \(process\)/),
      worker: expect.stringMatching(/^ok/),
    });
    writeFileSync(path.join(stack.home, 'slipway.config.yaml'), 'targets: 7\n');
    await until('the server has seen its file', async () =>
      /^fault the operator's file is invalid.*targets/.test((await look())['targets'] ?? ''),
    );
  });
});

/** Reports each request once its answer has arrived, before it forwards the answer. */
class Proxy {
  private constructor(private readonly server: Server) {}

  static async start(to: string, seen: (method: string) => Promise<void>): Promise<Proxy> {
    const server = createServer((asked, answer) => {
      const { method = 'GET', headers, url = '/' } = asked;
      const onward = request(`${to}${url}`, { method, headers }, (got) => {
        void seen(method).then(() => {
          answer.writeHead(got.statusCode ?? 502, got.headers);
          got.pipe(answer);
        });
      });
      onward.on('error', () => answer.destroy());
      answer.on('error', () => onward.destroy());
      asked.pipe(onward);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Proxy(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
