import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OperationFailed, Slipway } from '@slipway/sdk';
import { ROOT, Stack, until } from '../harness/stack.js';

/**
 * The runtimes that the client supports in addition to browsers. `SLIPWAY_TEST_RUNTIMES` names programs,
 * separated by colons; `.ci/run` fetches them.
 */
const RUNTIMES = ['Node 20', 'Node 22', 'Node 24', 'Bun'];
const PROGRAMS = programsFound();

const sim = (id: string, args: Record<string, unknown> = {}) => ({
  model: { id },
  runtime: { target: 'local', engine: 'sim', args },
});

describe('the sdk, against processes of the product', () => {
  let stack: Stack;
  let slipway: Slipway;

  beforeAll(async () => {
    stack = await Stack.start({ shipped: true });
    slipway = new Slipway({ baseUrl: stack.apiUrl(), token: stack.token });
  });
  afterAll(() => stack?.stop());

  it('rolls out, reports the steps as they happen, and adopts by the key', async () => {
    await slipway.deployments.create({ name: 'chat' });
    const body = { spec: sim('one'), strategy: { type: 'immediate' } } as const;
    const rehearsal = await slipway.deployments.rollouts.rehearse('chat', body);
    const first = await slipway.deployments.rollouts.create('chat', body, { idempotencyKey: 'first' });
    const again = await slipway.deployments.rollouts.create('chat', body, { idempotencyKey: 'first' });
    expect([first.created, again.created, again.operation.id]).toEqual([true, false, first.operation.id]);
    const told: string[] = [];
    const ended = await slipway.operations.wait(first.operation.id, {
      onStep: ({ name, status }) => void (status === 'succeeded' && told.push(name)),
    });
    expect(ended).toMatchObject({ status: 'succeeded', progress: 100 });
    expect(told).toEqual(rehearsal.steps);
    const types: string[] = [];
    for await (const { type } of slipway.operations.events.follow(ended.id)) types.push(type);
    expect(types.at(-1)).toBe('operation.status_changed');
    expect(types).toContain('rollout.promoted');
  });

  it('fails with the codes of the operation and of the api', async () => {
    const { operation } = await slipway.deployments.rollouts.create('chat', {
      spec: sim('two', { never_ready: true }),
      progress_deadline_seconds: 3,
    });
    const failure = await slipway.operations.wait(operation.id).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(OperationFailed);
    expect(failure).toMatchObject({ code: 'target_not_ready', operation: { id: operation.id, status: 'failed' } });
    const tooLate = slipway.operations.cancel(operation.id);
    await expect(tooLate).rejects.toMatchObject({ code: 'operation_not_cancellable', status: 409 });
    await expect(slipway.deployments.get('nobody')).rejects.toMatchObject({
      code: 'deployment_not_found',
      status: 404,
    });
    const { etag } = await slipway.deployments.get('chat');
    await slipway.deployments.update('chat', { description: 'ours' }, { ifMatch: etag });
    const late = slipway.deployments.update('chat', { description: 'theirs' }, { ifMatch: etag });
    await expect(late).rejects.toMatchObject({ code: 'precondition_failed', category: 'precondition' });
  });

  it('reads all pages', async () => {
    for (const name of ['p-1', 'p-2', 'p-3']) await slipway.deployments.create({ name, labels: { page: 'yes' } });
    const names: string[] = [];
    for await (const { name } of slipway.deployments.list({ label: 'page=yes', limit: 2 })) names.push(name);
    expect(names).toEqual(['p-3', 'p-2', 'p-1']);
  });

  it('follows events across a restart of the api: none is missing, and none comes twice', async () => {
    const sequences: number[] = [];
    const stop = new AbortController();
    const following = (async () => {
      for await (const { sequence, data } of slipway.deployments.events.follow('p-1', { signal: stop.signal })) {
        sequences.push(sequence);
        if (JSON.stringify(data).includes('last')) stop.abort();
      }
    })();
    await slipway.deployments.update('p-1', { description: 'before' });
    await until('the first two have come', async () => sequences.length === 2);
    await stack.kill('api');
    stack.spawn('api');
    await stack.ready();
    await slipway.deployments.update('p-1', { description: 'between' });
    await slipway.deployments.update('p-1', { description: 'last' });
    await following.catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
    expect(sequences).toEqual([1, 2, 3, 4]);
  });

  for (const runtime of RUNTIMES)
    (PROGRAMS.has(runtime) ? it : it.skip)(`does in ${runtime} what its README shows`, async () => {
      const readme = readFileSync(path.join(ROOT, 'libs/sdk/README.md'), 'utf8');
      const shown = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
      expect(shown.length).toBeGreaterThan(3);
      // Outside the repository, like a user who has installed it.
      const dir = mkdtempSync(path.join(tmpdir(), 'slipway-sdk-'));
      mkdirSync(path.join(dir, 'node_modules/@slipway'), { recursive: true });
      symlinkSync(path.join(ROOT, 'libs/sdk'), path.join(dir, 'node_modules/@slipway/sdk'));
      const name = runtime.toLowerCase().replace(' ', '-');
      writeFileSync(path.join(dir, 'shown.mjs'), shown.join('\n').replaceAll('readme', name));
      const env = { PATH: process.env['PATH'], SLIPWAY_URL: stack.apiUrl(), SLIPWAY_TOKEN: stack.token };
      const options = { cwd: dir, env, timeout: 30_000 };
      const { stdout } = await promisify(execFile)(PROGRAMS.get(runtime)!, ['shown.mjs'], options);
      rmSync(dir, { recursive: true });
      expect(stdout).toContain('promote: succeeded');
      expect(stdout).toContain(`${name}: rollout.promoted`);
      expect(stdout).toContain('There is no nobody');
    });
});

/** The installed programs, by the names that they report. */
function programsFound(): Map<string, string> {
  const given = (process.env['SLIPWAY_TEST_RUNTIMES'] ?? '').split(':').filter(Boolean);
  const found = new Map<string, string>();
  for (const program of ['bun', ...given, process.execPath]) {
    const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
    const [, node, bun] = /^(?:v(\d+)\.|(\d+\.))/.exec(stdout ?? '') ?? [];
    if (node) found.set(`Node ${node}`, program);
    if (bun) found.set('Bun', program);
  }
  return found;
}
