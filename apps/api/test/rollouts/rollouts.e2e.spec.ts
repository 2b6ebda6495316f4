import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { AnswerOf, BodyOf, CallOptions, Slipway } from '@slipway/sdk';
import { codeOf, refusalOf } from '../harness/refusals.js';
import { isAlive, Stack, until } from '../harness/stack.js';

jest.setTimeout(120_000);

const sim = (model: string, args: Record<string, unknown> = {}) => ({
  model: { id: model },
  runtime: { target: 'local', engine: 'sim', args },
});

describe('the main job, with real processes', () => {
  let stack: Stack;
  let slipway: Slipway;
  let number = 0;

  beforeAll(async () => {
    stack = await Stack.start({ gateway: true });
    slipway = stack.slipway();
  });
  afterAll(() => stack?.stop());

  const deployment = async () => {
    const name = `chat-${++number}`;
    await slipway.deployments.create({ name });
    return name;
  };
  const begin = (name: string, body: object, options?: CallOptions): Promise<AnswerOf<'createRollout'>> =>
    slipway.deployments.rollouts.create(name, body as BodyOf<'createRollout'>, options);
  const rollout = async (name: string, body: object) => {
    const { created, operation } = await begin(name, body);
    expect(created).toBe(true);
    return operation.id;
  };
  const rollBack = async (name: string, body?: BodyOf<'createRollback'>) =>
    (await slipway.deployments.rollbacks.create(name, body)).operation;
  const chat = (model: string) =>
    fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
    });

  it('rolls out, routes, serves, rolls out again and rolls back', async () => {
    const name = await deployment();
    const first = await stack.operation(await rollout(name, { spec: sim('m-one') }));
    expect(first).toMatchObject({
      status: 'succeeded',
      progress: 100,
      kind: 'rollout',
      resource_name: name,
      result: { outcome: 'candidate_ready', revision: `${name}-00001` },
    });
    expect(first.steps.map((step: any) => step.name)).toEqual(['validate', 'provision', 'await_ready']);
    expect(await codeOf(slipway.deployments.route.get(name))).toBe('404 route_not_found');

    await slipway.deployments.route.set(name, { revision: `${name}-00001` });
    await until(
      'the gateway serves the first revision',
      async () => (await chat(name)).headers.get('x-slipway-revision') === `${name}-00001`,
      20_000,
    );

    const second = await stack.operation(
      await rollout(name, { spec_patch: { model: { id: 'm-two' } }, strategy: { type: 'immediate' } }),
    );
    expect(second).toMatchObject({ status: 'succeeded', result: { outcome: 'promoted' } });
    await until(
      'the gateway follows',
      async () => (await chat(name)).headers.get('x-slipway-revision') === `${name}-00002`,
      20_000,
    );
    expect(await slipway.deployments.get(name)).toMatchObject({
      state: 'active',
      active_revision: `${name}-00002`,
      previous_revision: `${name}-00001`,
      current_operation_id: null,
    });

    const back = await rollBack(name);
    expect(await stack.operation(back.id)).toMatchObject({
      status: 'succeeded',
      kind: 'rollback',
      result: { revision: `${name}-00001` },
    });
    await until(
      'the gateway is back',
      async () => (await chat(name)).headers.get('x-slipway-revision') === `${name}-00001`,
      20_000,
    );
    expect(await codeOf(rollBack(name))).toBe('404 no_previous_revision');
    const { data: events } = await slipway.deployments.events.list(name, { order: 'asc', limit: 200 });
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'deployment.created',
        'revision.created',
        'rollout.started',
        'revision.ready',
        'route.updated',
        'rollout.promoted',
        'rollback.started',
        'rollback.completed',
      ]),
    );
  });

  it('makes one operation for a hundred requests with one key', async () => {
    const name = await deployment();
    const ask = (by: Slipway, model: string, idempotencyKey: string) =>
      by.deployments.rollouts.create(name, { spec: sim(model) }, { idempotencyKey });
    // The status and a header distinguish the first answer from a replay.
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => stack.answerTo((by) => ask(by, 'm-key', 'one'))),
    );
    expect(answers.filter((one) => one.status === 202 && one.body.created === true)).toHaveLength(1);
    expect(
      answers.filter(
        (one) => one.status === 200 && one.body.created === false && one.headers.get('idempotency-replayed') === 'true',
      ),
    ).toHaveLength(99);
    expect(new Set(answers.map((one) => one.body.operation.id)).size).toBe(1);
    for (const { headers, body } of answers)
      expect(headers.get('location')).toBe(`/api/v1/operations/${body.operation.id}`);
    expect((await refusalOf(ask(slipway, 'm-other', 'one'))).code).toBe('idempotency_key_reused');
    expect((await refusalOf(ask(slipway, 'm-key', 'x'.repeat(129)))).code).toBe('idempotency_key_invalid');
    const other = stack.as((await slipway.tenants.create({ name: 'other' })).token!);
    await other.deployments.create({ name });
    expect((await ask(other, 'm-key', 'one')).created).toBe(true);
    await stack.operation(answers[0]!.body.operation.id);
    await until('the other tenant has its own engine', async () => stack.simulatorStarts('m-key').length === 2);
  });

  it('fails a rollout that never becomes ready, and restores the state before it', async () => {
    const name = await deployment();
    await stack.operation(await rollout(name, { spec: sim('m-stable'), strategy: { type: 'immediate' } }));
    const before = await slipway.deployments.route.get(name);
    const [stable] = stack.simulatorStarts('m-stable');
    const failed = await stack.operation(
      await rollout(name, {
        spec: sim('m-never', { never_ready: true }),
        strategy: { type: 'immediate' },
        progress_deadline_seconds: 2,
      }),
    );
    expect(failed).toMatchObject({
      status: 'failed',
      error_code: 'target_not_ready',
      retryable: true,
      result: { outcome: 'reverted' },
      current_step: 'await_ready',
    });
    expect(await slipway.deployments.route.get(name)).toEqual(before);
    expect(stack.simulatorStarts('m-stable')).toEqual([stable]);
    expect(isAlive(stable!.pid)).toBe(true);
    expect(stack.simulatorStarts('m-never').filter(({ pid }) => isAlive(pid))).toEqual([]);
  });

  it('cancels a rollout that waits for readiness, without waiting for it', async () => {
    const name = await deployment();
    // Neither the engine nor the deadline of the rollout ends it within this test.
    const id = await rollout(name, { spec: sim('m-slow', { startup_ms: 600_000 }), progress_deadline_seconds: 600 });
    await until('its engine runs', async () => stack.simulatorStarts('m-slow').some(({ pid }) => isAlive(pid)));
    expect((await slipway.operations.get(id)).current_step).toBe('await_ready');
    const looks = async () =>
      Number((await stack.query('select lease_version from operations where id = $1', [id]))[0].lease_version);
    await slipway.operations.cancel(id);
    const before = await looks();
    const record = await stack.operation(id);
    expect(record).toMatchObject({
      status: 'cancelled',
      cancel_requested: true,
      error_code: 'cancelled_by_user',
      current_step: 'await_ready',
    });
    // It checks every tenth of a second until the engine has ended. Ten seconds of that is far from the ten minutes of
    // the engine's start, and an engine on a busy machine ends within them.
    expect((await looks()) - before).toBeLessThanOrEqual(100);
    expect(await codeOf(slipway.operations.cancel(id))).toBe('409 operation_not_cancellable');
    await until('its engine is gone', async () => stack.simulatorStarts('m-slow').every(({ pid }) => !isAlive(pid)));
  });

  it('rolls back while the active revision is dead, and while a rollout is running', async () => {
    const name = await deployment();
    await stack.operation(await rollout(name, { spec: sim('m-good'), strategy: { type: 'immediate' } }));
    await stack.operation(await rollout(name, { spec: sim('m-bad'), strategy: { type: 'immediate' } }));
    for (const { pid } of stack.simulatorStarts('m-bad')) process.kill(pid, 'SIGKILL');
    const back = await rollBack(name);
    expect(await stack.operation(back.id)).toMatchObject({ status: 'succeeded' });

    const third = await rollout(name, {
      spec: sim('m-third', { startup_ms: 60_000 }),
      strategy: { type: 'immediate' },
    });
    const pre = await rollBack(name);
    expect(await slipway.operations.get(third)).toMatchObject({
      status: 'cancelled',
      error_code: 'superseded',
      superseded_by: pre.id,
    });
    expect(await stack.operation(pre.id)).toMatchObject({ status: 'succeeded', result: { revision: `${name}-00001` } });
    expect((await slipway.deployments.revisions.list(name)).data).toHaveLength(3);
    await until('its engine is gone', async () => stack.simulatorStarts('m-third').every(({ pid }) => !isAlive(pid)));
  });

  describe('a rollback out of a canary at 75/25', () => {
    const QUARTER = {
      type: 'canary',
      steps: [
        { traffic_percent: 25, soak_seconds: 0, requires_approval: true },
        { traffic_percent: 100, soak_seconds: 0 },
      ],
    };
    const targets = async (name: string) =>
      (await slipway.deployments.route.get(name)).targets.map(({ revision, weight }) => [revision, weight]);
    /**
     * Makes this many revisions that were active one after the other, and a canary of one more that waits at a quarter.
     */
    const atAQuarter = async (name: string, specs: object[], keep_previous_seconds = 0) => {
      for (const spec of specs) {
        const body = { spec, strategy: { type: 'immediate' }, keep_previous_seconds };
        expect(await stack.operation(await rollout(name, body))).toMatchObject({ status: 'succeeded' });
      }
      const canary = await rollout(name, { spec: sim(`${name}-next`), strategy: QUARTER, analysis: { mode: 'none' } });
      await stack.operation(canary, ['waiting']);
      const [active, candidate] = [specs.length, specs.length + 1].map((number) => `${name}-0000${number}`) as [
        string,
        string,
      ];
      expect(await targets(name)).toEqual([
        [active, 75],
        [candidate, 25],
      ]);
      return { active, candidate };
    };
    const isAtRest = async (name: string, active: string) => {
      expect(await targets(name)).toEqual([[active, 100]]);
      expect(await slipway.deployments.get(name)).toMatchObject({
        active_revision: active,
        candidate_revision: null,
        current_operation_id: null,
      });
      await until('the candidate is gone', async () =>
        stack.simulatorStarts(`${name}-next`).every(({ pid }) => !isAlive(pid)),
      );
      // No operation owns the traffic: a person may move it, and the next rollout begins.
      const next = await stack.operation(
        await rollout(name, { spec: sim(`${name}-after`), strategy: { type: 'immediate' } }),
      );
      expect(next).toMatchObject({ status: 'succeeded', result: { outcome: 'promoted' } });
      const deployed = await slipway.deployments.get(name);
      expect([deployed.state, deployed.conditions.find(({ type }) => type === 'Progressing')?.reason]).toEqual([
        'active',
        'Idle',
      ]);
    };

    // Long enough for a test to act during the start, and to finish before its end.
    const SLOW_MS = 6_000;

    it.each([
      [
        'is cancelled',
        async (id: string) => void (await slipway.operations.cancel(id)),
        { status: 'cancelled', error_code: 'cancelled_by_user' },
      ],
      [
        'fails',
        // Its deadline of ten minutes is over.
        async (id: string) =>
          void (await stack.query(
            `update operation_steps set started_at = started_at - interval '601 seconds'
             where operation_id = $1 and name = 'ensure_ready'`,
            [id],
          )),
        { status: 'failed', error_code: 'target_not_ready' },
      ],
    ])(
      'that %s before its target is ready ends with the route that the rollout had found',
      async (_how, end, ended) => {
        const name = await deployment();
        const first = sim(`${name}-first`, { startup_ms: SLOW_MS });
        const { active } = await atAQuarter(name, [first, sim(`${name}-active`)]);
        await until('the first revision is stopped', async () =>
          stack.simulatorStarts(`${name}-first`).every(({ pid }) => !isAlive(pid)),
        );
        const { id } = await rollBack(name, { to_revision: `${name}-00001` });
        await until(
          'it waits for its target',
          async () => (await slipway.operations.get(id)).current_step === 'ensure_ready',
        );
        await end(id);
        expect(await stack.operation(id)).toMatchObject({
          ...ended,
          result: { because: 'named', outcome: 'reverted' },
        });
        await isAtRest(name, active);
      },
    );

    it('rolls back to the last good revision if the active one is dead, and reports that', async () => {
      const name = await deployment();
      const { active } = await atAQuarter(
        name,
        [sim(`${name}-good`), sim(`${name}-active`, { startup_ms: SLOW_MS })],
        3_600,
      );
      for (const { pid } of stack.simulatorStarts(`${name}-active`)) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
      const ready = `select 1 from instances i join revisions r on r.id = i.revision_id where r.name = $1 and i.state = 'ready'`;
      await until('it is seen to be dead', async () => (await stack.query(ready, [active])).length === 0);
      const { would } = await slipway.deployments.rollbacks.rehearse(name);
      expect(would).toMatch(/-00001, the last good revision before .* no ready instance$/);
      const back = await rollBack(name);
      expect(back.result).toMatchObject({ revision: `${name}-00001`, because: 'last_good_before' });
      expect(await stack.operation(back.id)).toMatchObject({ status: 'succeeded' });
      await isAtRest(name, `${name}-00001`);
    });
  });

  it('rehearses without writing', async () => {
    const name = await deployment();
    const body = { spec: sim('m-dry'), strategy: { type: 'immediate' } } as const;
    expect(await slipway.deployments.rollouts.rehearse(name, body)).toMatchObject({
      valid: true,
      steps: ['validate', 'provision', 'await_ready', 'shift_traffic:1', 'promote'],
    });
    expect((await slipway.deployments.revisions.list(name)).data).toEqual([]);
    expect((await slipway.operations.list({ resource_name: name })).data).toEqual([]);
  });

  it('refuses a spec that cannot run, naming each field, and warns about unknown fields', async () => {
    const name = await deployment();
    const refused = (body: object) => refusalOf(begin(name, body));
    expect(await refused({})).toMatchObject({
      code: 'validation_failed',
      details: [{ field: 'spec', code: 'exactly_one' }],
    });
    expect(await refused({ spec: { ...sim('m'), runtime: { target: 'nowhere' } } })).toMatchObject({
      code: 'validation_failed',
      message: expect.stringMatching(
        /^spec\.runtime\.target: execution target "nowhere" does not exist; available: .*local/,
      ),
      details: [expect.objectContaining({ field: 'spec.runtime.target' })],
    });
    const noEngine = { ...sim('m'), runtime: { target: 'local', engine: 'nobody' } };
    expect((await refused({ spec: noEngine })).message).toMatch(
      /^spec\.runtime\.engine: target "local" has the engines: .*sim/,
    );
    expect((await refused({ spcc: sim('m'), engine: 'sim' })).details.slice(1)).toEqual([
      { field: 'spcc', code: 'unknown_field', message: 'spcc is not a known field; did you mean `spec`?' },
      {
        field: 'engine',
        code: 'unknown_field',
        message: expect.stringContaining('did you mean `spec.runtime.engine`?'),
      },
    ]);
    expect((await refused({ spec: sim('m', { port: 1 }) })).details).toEqual([
      expect.objectContaining({ field: 'spec.runtime.args.port' }),
    ]);
    expect((await refused({ spec: sim('m'), keep_previous_seconds: 'long' })).status).toBe(400);
    expect((await refused({ spec: sim('m'), expected_active_revision: '7' })).status).toBe(412);
    const odd = { spec: sim('m-warn'), colour: 'red', strategy: { type: 'candidate', speed: 3 } };
    const { details } = await refused(odd);
    expect(details.map(({ field, code }) => `${field} ${code}`).sort()).toEqual([
      'colour unknown_field',
      'strategy.speed unknown_field',
    ]);
    const warned = await begin(name, odd, { strict: false });
    expect(warned.warnings).toEqual([
      ...['colour', 'strategy.speed'].map((field) => ({ code: 'unknown_field', field })),
      { code: 'no_route', field: 'strategy', message: expect.stringContaining(`/deployments/${name}/route`) },
    ]);
    expect(await refused({ spec: sim('m-late') })).toMatchObject({
      status: 409,
      code: 'operation_in_progress',
      message: expect.stringContaining(warned.operation.id),
    });
    await stack.operation(warned.operation.id);
  });
});
