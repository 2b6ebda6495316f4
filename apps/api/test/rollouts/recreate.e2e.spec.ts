import { afterEach, describe, expect, it, jest } from '@jest/globals';
import path from 'node:path';
import { Load, type LoadAnswer } from '@slipway/platform-testing/load';
import { refusalOf } from '../harness/refusals.js';
import { isAlive, ROOT, Stack, until } from '../harness/stack.js';

// A dozen starts and deaths of a worker take minutes on a busy machine.
jest.setTimeout(500_000);

const SIMULATOR = path.join(ROOT, 'tools/inference-sim/dist/main.js');
/** A host with capacity for one instance, the usual case of a GPU. */
const ONE_INSTANCE = (home: string) => `
targets:
  - name: local
    kind: process
    max_instances: 1
    engines:
      sim:
        command: ["node", ${JSON.stringify(SIMULATOR)}, "--port", "{port}", "--model", "{model.id}", "--start-log", "${home}/sim-starts.log"]
        ready: { path: /health, timeout_seconds: 60 }
        args: { ttft_ms: "--ttft-ms={}", startup_ms: "--startup-ms={}", never_ready: "--never-ready={}" }
      absent:
        command: ["no-such-engine", "--port", "{port}"]
`;
const spec = (model: string, args: Record<string, unknown> = {}) => ({
  model: { id: model },
  runtime: { target: 'local', engine: 'sim', args },
});
const recreate = (soak_seconds: number) => ({ type: 'recreate', steps: [{ traffic_percent: 100, soak_seconds }] });
const lost = (answers: LoadAnswer[]) => answers.filter((one) => one.isCut || one.status !== 200);

describe('two revisions on a host for one instance', () => {
  let stack: Stack;
  afterEach(() => stack?.stop());

  const first = async (name: string) => {
    await stack.slipway().deployments.create({ name });
    const id = await stack.rollOut(name, { spec: spec(`${name}-1`), strategy: { type: 'immediate' } });
    expect(await stack.operation(id)).toMatchObject({ status: 'succeeded' });
  };
  const alive = () => stack.simulatorStarts().filter(({ pid }) => isAlive(pid));

  it('a recreate and its undo steps lose no request under load; a rollback restores the previous revision, with its engine dead or alive', async () => {
    stack = await Stack.start({ gateway: true, config: ONE_INSTANCE });
    await first('chat');
    const load = new Load(stack.gatewayUrl, stack.token, 'chat', 20);
    await until('the load is served', async () => load.answers.some((one) => one.status === 200));
    const { rollouts } = stack.slipway().deployments;
    const refused = await refusalOf(rollouts.create('chat', { spec: spec('chat-2'), strategy: { type: 'canary' } }));
    expect(refused).toMatchObject({
      status: 409,
      code: 'capacity_exhausted',
      message: expect.stringContaining('recreate'),
    });
    const strategy = { type: 'auto' as const, steps: recreate(1).steps };
    const good = { spec: spec('chat-2', { startup_ms: 1_500 }), strategy };
    expect(await rollouts.rehearse('chat', good)).toMatchObject({
      strategy: 'recreate',
      capacity: { target: 'local', needed: 1, free: 0, gap_seconds: expect.any(Number) },
    });
    const promoted = await stack.operation(await stack.rollOut('chat', good));
    expect(promoted).toMatchObject({
      status: 'succeeded',
      result: { outcome: 'promoted', strategy: 'recreate', requests_cut: 0 },
    });
    expect(promoted.result.gap_seconds).toBeGreaterThan(1.4);
    expect(promoted.result.gap_seconds).toBeLessThan(40);
    const [before] = alive();
    const { operation: restart } = await stack.slipway().deployments.restart('chat', { reason: 'read a new file' });
    expect(await stack.operation(restart.id)).toMatchObject({
      kind: 'restart',
      status: 'succeeded',
      result: { instances: 1, restarted: 1, gap_seconds: expect.any(Number) },
    });
    expect(alive().map(({ pid, model }) => [pid === before?.pid, model])).toEqual([[false, 'chat-2']]);
    const absent = { model: { id: 'chat-x' }, runtime: { target: 'local', engine: 'absent' } };
    const unstarted = await stack.operation(await stack.rollOut('chat', { spec: absent, strategy: recreate(1) }));
    expect(unstarted).toMatchObject({
      status: 'failed',
      error_code: 'target_not_ready',
      message: expect.stringMatching(
        /^Nothing was stopped, because .* program_not_found: no-such-engine was not found/,
      ),
    });
    expect(unstarted.result.gap_seconds).toBeUndefined();
    const back = await stack.operation(
      await stack.rollOut('chat', {
        spec: spec('chat-3', { never_ready: true }),
        strategy: recreate(1),
        progress_deadline_seconds: 4,
      }),
    );
    expect(back).toMatchObject({ status: 'failed', error_code: 'target_not_ready', result: { outcome: 'reverted' } });
    expect(back.result.gap_seconds).toBeGreaterThan(4);
    const served = load.answers.length;
    await until('it is served', async () => load.answers.length > served + 20);
    expect(await stack.slipway().deployments.get('chat')).toMatchObject({
      state: 'active',
      active_revision: 'chat-00002',
    });
    expect((await stack.slipway().deployments.route.get('chat')).hold).toBeNull();
    // A death before requests are held may lose some; from then on, none is lost.
    const dead = alive();
    for (const { pid } of dead) process.kill(pid, 'SIGKILL');
    const { operation } = await stack.slipway().deployments.rollbacks.create('chat', { reason: 'dead' });
    expect(operation.steps.map((step) => step.name)).toContain('hold_requests');
    expect(await stack.operation(operation.id)).toMatchObject({
      status: 'succeeded',
      result: { outcome: 'rolled_back', revision: 'chat-00001', gap_seconds: expect.any(Number) },
    });
    const rolledBack = load.answers.length;
    await until('it is served', async () => load.answers.length > rolledBack + 20);
    const answers = await load.stop();
    expect(lost(answers.slice(0, served))).toEqual([]);
    expect(lost(answers.slice(rolledBack))).toEqual([]);
    expect(answers.at(-1)?.revision).toBe('chat-00001');
    expect(alive()).toHaveLength(1);
  });

  it('kill -9 of the worker at every step of a recreate ends like an undisturbed run', async () => {
    stack = await Stack.start({ workers: 0, config: ONE_INSTANCE });
    stack.spawn('worker');
    await first('chat');
    await stack.kill('worker');
    const forward = [
      ...['validate', 'preflight', 'hold_requests', 'stop_previous', 'provision', 'await_ready', 'release_requests'],
      ...['soak:1', 'analyze:1'],
    ];
    /** Every worker dies at the next of the points; the last one finishes the operation. */
    const run = async (points: string[], body: object) => {
      const id = await stack.rollOut('chat', body);
      for (const point of points) {
        stack.spawn('worker', 0, { SLIPWAY_PAUSE_POINT: point });
        await stack.paused('worker', 0, point);
        await stack.kill('worker');
      }
      stack.spawn('worker');
      const record = await stack.operation(id);
      await until('one engine runs', async () => alive().length === 1);
      const [left] = await stack.query(
        `select (select count(*)::int from routes where hold is not null) as holds, (select count(*)::int from traffic_owner) as owners,
           (select count(*)::int from workload_holds where holder like 'operation:%') as held`,
      );
      expect(left).toEqual({ holds: 0, owners: 0, held: 0 });
      await stack.kill('worker');
      return record;
    };
    const good = await run(
      forward.map((step) => `operation:${step}:after-commit`),
      { spec: spec('chat-2'), strategy: recreate(0) },
    );
    expect(good).toMatchObject({
      status: 'succeeded',
      result: { outcome: 'promoted', gap_seconds: expect.any(Number) },
    });
    expect(stack.simulatorStarts('chat-2')).toHaveLength(1);
    expect(alive().map((one) => one.model)).toEqual(['chat-2']);
    const bad = await run(
      ['remove_candidate', 'start_previous'].map((step) => `operation:${step}:after-commit`),
      { spec: spec('bad', { never_ready: true }), strategy: recreate(0), progress_deadline_seconds: 3 },
    );
    expect(bad).toMatchObject({ status: 'failed', result: { outcome: 'reverted' } });
    expect(alive().map((one) => one.model)).toEqual(['chat-2']);
  });
});
