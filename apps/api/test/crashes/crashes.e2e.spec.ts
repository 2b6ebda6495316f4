import { afterEach, expect, it, jest } from '@jest/globals';
import { until, type Stack } from '../harness/stack.js';
import { describeOnEachTarget } from '../harness/each-target.js';

// Thirteen starts and deaths of a worker take minutes on a busy machine.
jest.setTimeout(800_000);

const STEPS = ['validate', 'provision', 'await_ready', 'shift_traffic:1', 'promote'];
const body = (model: string, extra: object = {}) => ({
  spec: { model: { id: model }, runtime: { target: 'local', engine: 'sim' } },
  strategy: { type: 'immediate' },
  ...extra,
});

describeOnEachTarget('kill -9', (startStack) => {
  let stack: Stack;
  afterEach(() => stack?.stop());

  it('of the worker at every step boundary, before and after the commit, changes nothing twice', async () => {
    stack = await startStack({ workers: 0 });
    await stack.slipway().deployments.create({ name: 'chat' });
    // From the last step to the first: a worker that recovers an operation passes none of the points before it,
    // so the same worker dies in the next round.
    const points = STEPS.flatMap((step) => [`operation:${step}:before-commit`, `operation:${step}:after-commit`]);
    const rounds = points.reverse();
    const pausingAt = (point = '') => stack.spawn('worker', 0, { SLIPWAY_PAUSE_POINT: point });
    pausingAt(rounds[0]);
    // The recovering worker claims the operation again, so it cannot be the one that dies there.
    for (const [index, point] of [...rounds, 'operation:acquired'].entries()) {
      const model = `m-${index}`;
      if (point === 'operation:acquired') {
        await stack.kill('worker');
        pausingAt(point);
      }
      const id = await stack.rollOut('chat', body(model));
      await stack.paused('worker', 0, point);
      await stack.kill('worker');
      pausingAt(rounds[index + 1]);
      const record = await stack.operation(id);
      expect([point, record.status, record.message]).toEqual([point, 'succeeded', expect.any(String)]);
      expect([point, stack.simulatorStarts(model).length]).toEqual([point, 1]);
      const [effects] = await stack.query(
        `select (select count(*)::int from revision_activations where operation_id = $1) as activations,
                (select count(*)::int from events where operation_id = $1 and type = 'rollout.promoted') as promotions,
                (select count(*)::int from events where operation_id = $1 and type = 'rollout.step_advanced') as advances`,
        [id],
      );
      expect([point, effects]).toEqual([point, { activations: 1, promotions: 1, advances: STEPS.length }]);
    }
    const sequences = await stack.query(
      `select sequence::int from events where stream like 'deployment/%' order by sequence`,
    );
    expect(sequences.map((row) => row.sequence)).toEqual(sequences.map((_, index) => index + 1));
  });

  it('of the worker at any undo step of a rollback leaves no traffic without an owner', async () => {
    stack = await startStack({ workers: 0 });
    const steps = [
      { traffic_percent: 25, soak_seconds: 0, requires_approval: true },
      { traffic_percent: 100, soak_seconds: 0 },
    ];
    const points = [
      'operation:revert_traffic:before-commit',
      // Accepted, cancelled, and never begun: its worker dies when it claims it.
      'operation:acquired',
    ];
    const { deployments, operations } = stack.slipway();
    const start = (more: object) => stack.rollOut('chat', body('m', more));
    const weights = async () => (await deployments.route.get('chat')).targets.map((one) => one.weight);
    await stack.slipway().deployments.create({ name: 'chat' });
    stack.spawn('worker');
    expect(await stack.operation(await start({}))).toMatchObject({ status: 'succeeded' });
    for (const [index, point] of points.entries()) {
      const strategy = { type: 'canary', steps };
      await stack.operation(await start({ ...body(`next-${index}`), strategy, analysis: { mode: 'none' } }), [
        'waiting',
      ]);
      expect(await weights()).toEqual([75, 25]);
      await stack.kill('worker');
      const { operation } = await deployments.rollbacks.create('chat');
      await operations.cancel(operation.id);
      stack.spawn('worker', 0, { SLIPWAY_PAUSE_POINT: point });
      await stack.paused('worker', 0, point);
      await stack.kill('worker');
      expect(await weights()).toEqual([75, 25]);
      stack.spawn('worker');
      const { status, result } = await stack.operation(operation.id);
      expect([point, status, result.outcome]).toEqual([point, 'cancelled', 'reverted']);
      expect(await weights()).toEqual([100]);
      expect(await stack.query('select 1 from traffic_owner')).toEqual([]);
      const changes = `select count(*)::int as count from events where operation_id = $1 and type = 'route.updated'`;
      expect(await stack.query(changes, [operation.id])).toEqual([{ count: 1 }]);
    }
  });

  it('of api and worker at once, at random moments, loses no operation', async () => {
    stack = await startStack();
    for (let round = 1; round <= 6; round += 1) {
      await stack.slipway().deployments.create({ name: `chat-${round}` });
      const id = await stack.rollOut(
        `chat-${round}`,
        body(`r-${round}`, {
          spec: { model: { id: `r-${round}` }, runtime: { target: 'local', engine: 'sim', args: { startup_ms: 300 } } },
        }),
      );
      await new Promise((resolve) => setTimeout(resolve, 60 * round));
      await Promise.all([stack.kill('api'), stack.kill('worker')]);
      stack.spawn('api');
      stack.spawn('worker');
      await stack.ready();
      expect(await stack.operation(id)).toMatchObject({ status: 'succeeded' });
      expect(stack.simulatorStarts(`r-${round}`)).toHaveLength(1);
    }
  });

  it('of the queue itself: a schema dropped during a rollout loses nothing', async () => {
    stack = await startStack();
    const isWhole = async () => {
      const [found] = await stack.query(`select to_regclass('bullmq.job') is not null as "isThere"`);
      return found.isThere;
    };
    // Processes serve before they have made it.
    await until('the queue to be there', isWhole);
    await stack.slipway().deployments.create({ name: 'chat' });
    const id = await stack.rollOut(
      'chat',
      body('m-queue', {
        spec: { model: { id: 'm-queue' }, runtime: { target: 'local', engine: 'sim', args: { startup_ms: 1_500 } } },
      }),
    );
    await stack.operation(id, ['running']);
    await until('it to be dropped', () => dropQueue(stack));
    expect(await stack.operation(id)).toMatchObject({ status: 'succeeded' });
    expect(stack.simulatorStarts('m-queue')).toHaveLength(1);
    await until('the queue to be whole again', isWhole);
    expect(await stack.operation(await stack.rollOut('chat', body('m-after')))).toMatchObject({ status: 'succeeded' });
  });
});

/** @returns whether it was dropped: the statement may deadlock with users of the queue, and then nothing has changed */
async function dropQueue(stack: Stack): Promise<boolean> {
  try {
    await stack.query('drop schema bullmq cascade');
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== '40P01') throw error;
    return false;
  }
}
