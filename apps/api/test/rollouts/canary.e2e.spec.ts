import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Load, type LoadAnswer } from '@slipway/platform-testing/load';
import { isAlive, until, type Stack } from '../harness/stack.js';
import { describeOnEachTarget } from '../harness/each-target.js';

jest.setTimeout(180_000);

const REQUESTS_PER_SECOND = Number(process.env['SLIPWAY_TEST_LOAD'] ?? 100);
const spec = (model: string, args: object = {}) => ({
  model: { id: model },
  runtime: { target: 'local', engine: 'sim', args: { ttft_ms: 20, ...args } },
});
const soaking = (soak_seconds: number, ...percents: number[]) => ({
  type: 'canary',
  steps: percents.map((traffic_percent) => ({ traffic_percent, soak_seconds })),
});
const steps = (...percents: number[]) => soaking(3, ...percents);
const errors = { name: 'error_rate', check: 'threshold', threshold: 0.05, min_samples: 20 };

describeOnEachTarget('a canary under load', (startStack) => {
  let stack: Stack;
  let number = 0;

  beforeAll(async () => {
    stack = await startStack({ gateway: true });
  });
  afterAll(() => stack?.stop());

  /** Makes a deployment whose stable revision has served for a while, and the load on it. */
  const underLoad = async (args: object = {}) => {
    const name = `canary-${++number}`;
    await stack.slipway().deployments.create({ name });
    const first = await stack.rollOut(name, { spec: spec(`${name}-stable`, args), strategy: { type: 'immediate' } });
    expect(await stack.operation(first)).toMatchObject({ status: 'succeeded' });
    const load = new Load(stack.gatewayUrl, stack.token, name, REQUESTS_PER_SECOND);
    await until('the load is served', async () => load.answers.filter((one) => one.status === 200).length > 100);
    return { name, load, route: await stack.slipway().deployments.route.get(name) };
  };
  const lost = (answers: LoadAnswer[]) => answers.filter((one) => one.isCut || one.status !== 200);
  const targetsOf = (route: any) => route.targets.map((target: any) => [target.revision, target.weight]);

  it('of a healthy candidate loses no request and cuts no stream', async () => {
    const { name, load } = await underLoad();
    const record = await stack.operation(
      await stack.rollOut(name, {
        spec: spec(`${name}-good`),
        strategy: steps(5, 50, 100),
        analysis: { metrics: [{ ...errors, min_samples: 5 }] },
      }),
      undefined,
      90_000,
    );
    const answers = await load.stop();
    expect(record).toMatchObject({ status: 'succeeded', result: { outcome: 'promoted' } });
    expect(Object.keys(record.result.analysis)).toEqual(['analyze:1', 'analyze:2', 'analyze:3']);
    expect(lost(answers)).toEqual([]);
    expect(new Set(answers.map((one) => one.revision))).toEqual(new Set([`${name}-00001`, `${name}-00002`]));
  });

  // The answers that may be lost meanwhile: none; those of the candidate; or also those that no revision gave,
  // because the chosen one had no instance left.
  const NOTHING: string[] = [];
  const ITS_OWN = ['-00002'];
  const UNANSWERED = ['-00002', ''];
  const NEVER = 'never starts';
  const MID_SOAK = 'crashes in mid-soak';
  it.each([
    ['fails a fifth of its requests', {}, { error_rate: 0.2 }, errors, 'analysis_failed', ITS_OWN],
    [
      // Slow enough for a busy machine to make no difference.
      'is three times slower to the first token',
      { ttft_ms: 200 },
      { ttft_ms: 600 },
      { name: 'ttft_ms', stat: 'p50', check: 'regression', max_regression_percent: 50, min_samples: 20 },
      'analysis_failed',
      NOTHING,
    ],
    [NEVER, {}, { never_ready: true }, errors, 'target_not_ready', NOTHING],
    // Late enough for a busy machine to have it ready before.
    [MID_SOAK, {}, { crash_after_ms: 8_000 }, errors, 'health_regression', UNANSWERED],
  ])(
    'of a candidate that %s ends failed, with the old route restored and no losses except by the candidate',
    async (what, stable, args, metric, errorCode, mayLose) => {
      const { name, load, route } = await underLoad(stable);
      const record = await stack.operation(
        await stack.rollOut(name, {
          spec: spec(`${name}-bad`, args),
          strategy: soaking(what === MID_SOAK ? 12 : 3, 50, 100),
          analysis: { metrics: [metric] },
          progress_deadline_seconds: what === NEVER ? 5 : 30,
        }),
        undefined,
        60_000,
      );
      const after = await stack.slipway().deployments.route.get(name);
      // The gateway follows the rollback, and from then on everything is answered.
      await until('the old route serves', async () => load.answers.slice(-50).every((one) => one.status === 200));
      const served = load.answers.length;
      await until('it goes on serving', async () => load.answers.length > served + 100);
      const answers = await load.stop();
      expect(record).toMatchObject({ status: 'failed', error_code: errorCode, result: { outcome: 'reverted' } });
      const { analysis = {} } = record.result;
      // A breach may stop the soak.
      if (errorCode === 'analysis_failed')
        expect((analysis['soak:1'] ?? analysis['analyze:1']).metrics[0]).toMatchObject({
          verdict: 'breached',
          candidate: { samples: expect.any(Number) },
        });
      expect(targetsOf(after)).toEqual(targetsOf(route));
      const losers = (some: LoadAnswer[]) =>
        [...new Set(lost(some).map((one) => one.revision.replace(name, '')))].sort();
      expect(losers(answers).filter((revision) => !mayLose.includes(revision))).toEqual([]);
      expect(losers(answers.slice(served)).filter((revision) => revision !== '-00002')).toEqual([]);
      expect(await stack.slipway().deployments.get(name)).toMatchObject({
        active_revision: `${name}-00001`,
        state: 'active',
        current_operation_id: null,
      });
    },
  );

  it('never promotes without metrics, waits for a person, and continues after the approval', async () => {
    const name = `canary-${++number}`;
    const { deployments, operations } = stack.slipway();
    await deployments.create({ name });
    await stack.operation(await stack.rollOut(name, { spec: spec(`${name}-stable`), strategy: { type: 'immediate' } }));
    const id = await stack.rollOut(name, {
      spec: spec(`${name}-quiet`),
      strategy: {
        type: 'canary',
        steps: [
          { traffic_percent: 50, soak_seconds: 1, requires_approval: true },
          { traffic_percent: 100, soak_seconds: 0 },
        ],
      },
      analysis: { metrics: [errors] },
    });
    const paused = await stack.operation(
      id,
      ['waiting', 'failed', 'succeeded'].filter((status) => status !== 'waiting').concat('waiting'),
    );
    expect(paused.status).toBe('waiting');
    await until('it pauses at the analysis', async () => {
      const { current_step, status } = await operations.get(id);
      return current_step === 'analyze:1' && status === 'waiting';
    });
    expect(await deployments.get(name)).toMatchObject({ active_revision: `${name}-00001` });
    await operations.resume(id);
    await until(
      'it asks for the approval',
      async () => (await operations.get(id)).current_step === 'await_promotion:1',
    );
    await operations.cancel(id);
    expect(await stack.operation(id)).toMatchObject({ status: 'cancelled', result: { outcome: 'reverted' } });
    expect(targetsOf(await deployments.route.get(name))).toEqual([[`${name}-00001`, 100]]);
  });

  /**
   * Returns the milliseconds from the request of a rollback off a broken revision to the last wrong answer to a client.
   */
  const lastWrongAnswer = async (disturb: (name: string) => Promise<void>): Promise<number> => {
    const { name, load } = await underLoad();
    // It answers no request, so only its health can make it ready.
    const broken = { ...spec(`${name}-broken`, { error_rate: 1 }), probes: { probe: 'list' } };
    await stack.operation(await stack.rollOut(name, { spec: broken, strategy: { type: 'immediate' } }));
    await until('the broken revision answers', async () => load.answers.slice(-5).some((one) => one.status !== 200));
    await disturb(name);
    const asked = Date.now();
    // Named, because without a name a rollback of a running rollout restores the revision that
    // was active when it began: the broken one.
    const { operation } = await stack.slipway().deployments.rollbacks.create(name, { to_revision: `${name}-00001` });
    expect(await stack.operation(operation.id)).toMatchObject({ status: 'succeeded' });
    const answers = await load.stop();
    const wrong = answers
      .filter((one) => (one.status !== 200 || one.isCut) && one.at > asked)
      .map((one) => one.at - asked);
    return Math.max(0, ...wrong);
  };

  it.each([
    ['nothing else happens', async () => undefined],
    [
      'a rollout is running',
      async (name: string) =>
        void (await stack.rollOut(name, {
          spec: spec(`${name}-next`, { startup_ms: 30_000 }),
          strategy: { type: 'immediate' },
        })),
    ],
    [
      'its processes are dead',
      async (name: string) =>
        stack.simulatorStarts(`${name}-broken`).forEach(({ pid }) => isAlive(pid) && process.kill(pid, 'SIGKILL')),
    ],
  ])(
    'is left by a rollback within a second from request to the last wrong answer, while %s',
    async (_what, disturb) => {
      // A busy machine may take longer, but not five times in a row.
      const took: number[] = [];
      while (took.length < 5 && Math.min(...took) >= 1_000) took.push(await lastWrongAnswer(disturb));
      expect(Math.min(...took)).toBeLessThan(1_000);
    },
  );
});
