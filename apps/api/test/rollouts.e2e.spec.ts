import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { isAlive, Stack, until } from './stack.js';

jest.setTimeout(120_000);

const sim = (model: string, args: Record<string, unknown> = {}) => ({
  model: { id: model },
  runtime: { target: 'local', engine: 'sim', args },
});

describe('the main job, over HTTP, with real processes', () => {
  let stack: Stack;
  let number = 0;

  beforeAll(async () => {
    stack = await Stack.start({ gateway: true });
  });
  afterAll(() => stack?.stop());

  const deployment = async (extra: object = {}) => {
    const name = `chat-${++number}`;
    const made = await stack.send('POST', '/deployments', { name, ...extra });
    expect(made.status).toBe(201);
    return name;
  };
  const rollout = async (name: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await stack.send('POST', `/deployments/${name}/rollouts`, body, { headers });
    expect([answer.status, answer.body]).toEqual([202, expect.objectContaining({ created: true })]);
    expect(answer.headers.get('location')).toBe(`/api/v1/operations/${answer.body.operation.id}`);
    return answer.body.operation.id as string;
  };
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
    expect((await stack.send('GET', `/deployments/${name}/route`)).body.error.code).toBe('route_not_found');

    const routed = await stack.send('PUT', `/deployments/${name}/route`, { revision: `${name}-00001` });
    expect(routed.status).toBe(200);
    await until(
      'the gateway serves the first revision',
      async () => (await chat(name)).headers.get('x-slipway-revision') === `${name}-00001`,
      5_000,
    );

    const second = await stack.operation(
      await rollout(name, { spec_patch: { model: { id: 'm-two' } }, strategy: { type: 'immediate' } }),
    );
    expect(second).toMatchObject({ status: 'succeeded', result: { outcome: 'promoted' } });
    await until(
      'the gateway follows',
      async () => (await chat(name)).headers.get('x-slipway-revision') === `${name}-00002`,
      5_000,
    );
    expect((await stack.send('GET', `/deployments/${name}`)).body).toMatchObject({
      state: 'active',
      active_revision: `${name}-00002`,
      previous_revision: `${name}-00001`,
      current_operation_id: null,
    });

    const back = await stack.send('POST', `/deployments/${name}/rollback`, {});
    expect(back.status).toBe(202);
    expect(await stack.operation(back.body.operation.id)).toMatchObject({
      status: 'succeeded',
      kind: 'rollback',
      result: { revision: `${name}-00001` },
    });
    await until(
      'the gateway is back',
      async () => (await chat(name)).headers.get('x-slipway-revision') === `${name}-00001`,
      5_000,
    );
    expect((await stack.send('POST', `/deployments/${name}/rollback`, {})).body.error.code).toBe(
      'no_previous_revision',
    );
    const events = (await stack.send('GET', `/deployments/${name}/events?order=asc&limit=200`)).body.data;
    expect(events.map((event: any) => event.sequence)).toEqual(events.map((_: unknown, index: number) => index + 1));
    expect(events.map((event: any) => event.type)).toEqual(
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

  it('makes one operation of a hundred requests with one key', async () => {
    const name = await deployment();
    const body = { spec: sim('m-key') };
    const ask = (payload: object, key: string) =>
      stack.send('POST', `/deployments/${name}/rollouts`, payload, { headers: { 'idempotency-key': key } });
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(body, 'one')));
    expect(answers.filter((one) => one.status === 202 && one.body.created === true)).toHaveLength(1);
    expect(
      answers.filter(
        (one) => one.status === 200 && one.body.created === false && one.headers.get('idempotency-replayed') === 'true',
      ),
    ).toHaveLength(99);
    expect(new Set(answers.map((one) => one.body.operation.id)).size).toBe(1);
    expect((await ask({ spec: sim('m-other') }, 'one')).body.error.code).toBe('idempotency_key_reused');
    expect((await ask(body, 'x'.repeat(129))).body.error.code).toBe('idempotency_key_invalid');
    const tenant = (await stack.send('POST', '/tenants', { name: 'other' })).body;
    await stack.send('POST', '/deployments', { name }, { token: tenant.token });
    const foreign = await stack.send('POST', `/deployments/${name}/rollouts`, body, {
      token: tenant.token,
      headers: { 'idempotency-key': 'one' },
    });
    expect([foreign.status, foreign.body.created]).toEqual([202, true]);
    await stack.operation(answers[0]!.body.operation.id);
    await until('the other tenant has its own engine', async () => stack.simulatorStarts('m-key').length === 2);
  });

  it('fails a rollout that never becomes ready, and leaves everything as it was', async () => {
    const name = await deployment();
    await stack.operation(await rollout(name, { spec: sim('m-stable'), strategy: { type: 'immediate' } }));
    const before = (await stack.send('GET', `/deployments/${name}/route`)).body;
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
    expect((await stack.send('GET', `/deployments/${name}/route`)).body).toEqual(before);
    expect(stack.simulatorStarts('m-stable')).toEqual([stable]);
    expect(isAlive(stable!.pid)).toBe(true);
    expect(stack.simulatorStarts('m-never').filter(({ pid }) => isAlive(pid))).toEqual([]);
  });

  it('cancels while it waits for readiness, without waiting for it', async () => {
    const name = await deployment();
    // Neither the engine nor the deadline of the rollout comes to its rescue within this test.
    const id = await rollout(name, { spec: sim('m-slow', { startup_ms: 600_000 }), progress_deadline_seconds: 600 });
    await until('its engine runs', async () => stack.simulatorStarts('m-slow').some(({ pid }) => isAlive(pid)));
    expect((await stack.send('GET', `/operations/${id}`)).body.current_step).toBe('await_ready');
    const looks = async () =>
      Number((await stack.query('select lease_version from operations where id = $1', [id]))[0].lease_version);
    expect((await stack.send('POST', `/operations/${id}/cancel`)).status).toBe(200);
    const before = await looks();
    const record = await stack.operation(id);
    expect(record).toMatchObject({
      status: 'cancelled',
      cancel_requested: true,
      error_code: 'cancelled_by_user',
      current_step: 'await_ready',
    });
    // It took one look to turn round, and at most those of a second, a tenth apart, to see the engine go. Counted, because a
    // busy machine takes longer for each of them, and therefore needs fewer.
    expect((await looks()) - before).toBeLessThanOrEqual(15);
    expect((await stack.send('POST', `/operations/${id}/cancel`)).body.error.code).toBe('operation_not_cancellable');
    await until('its engine is gone', async () => stack.simulatorStarts('m-slow').every(({ pid }) => !isAlive(pid)));
  });

  it('rolls back while the active revision is dead, and while a rollout is running', async () => {
    const name = await deployment();
    await stack.operation(await rollout(name, { spec: sim('m-good'), strategy: { type: 'immediate' } }));
    await stack.operation(await rollout(name, { spec: sim('m-bad'), strategy: { type: 'immediate' } }));
    for (const { pid } of stack.simulatorStarts('m-bad')) process.kill(pid, 'SIGKILL');
    const back = await stack.send('POST', `/deployments/${name}/rollback`, {});
    expect(await stack.operation(back.body.operation.id)).toMatchObject({ status: 'succeeded' });

    const third = await rollout(name, {
      spec: sim('m-third', { startup_ms: 60_000 }),
      strategy: { type: 'immediate' },
    });
    const pre = await stack.send('POST', `/deployments/${name}/rollback`, {});
    expect(pre.status).toBe(202);
    expect((await stack.send('GET', `/operations/${third}`)).body).toMatchObject({
      status: 'cancelled',
      error_code: 'superseded',
      superseded_by: pre.body.operation.id,
    });
    expect(await stack.operation(pre.body.operation.id)).toMatchObject({
      status: 'succeeded',
      result: { revision: `${name}-00001` },
    });
    const { data } = (await stack.send('GET', `/deployments/${name}/revisions`)).body;
    expect(data).toHaveLength(3);
    await until('its engine is gone', async () => stack.simulatorStarts('m-third').every(({ pid }) => !isAlive(pid)));
  });

  it('rehearses without writing', async () => {
    const name = await deployment();
    const rehearsed = await stack.send('POST', `/deployments/${name}/rollouts?validate_only=true`, {
      spec: sim('m-dry'),
      strategy: { type: 'immediate' },
    });
    expect([rehearsed.status, rehearsed.body]).toEqual([
      200,
      expect.objectContaining({
        valid: true,
        steps: ['validate', 'provision', 'await_ready', 'shift_traffic:1', 'promote', 'drain_previous'],
      }),
    ]);
    expect((await stack.send('GET', `/deployments/${name}/revisions`)).body.data).toEqual([]);
    expect((await stack.send('GET', `/operations?resource_name=${name}`)).body.data).toEqual([]);
  });

  it('refuses what cannot run, naming each field, and warns about what it does not know', async () => {
    const name = await deployment();
    const ask = (body: object) => stack.send('POST', `/deployments/${name}/rollouts`, body);
    expect((await ask({})).body.error).toMatchObject({
      code: 'validation_failed',
      details: [{ field: 'spec', code: 'exactly_one' }],
    });
    expect((await ask({ spec: { ...sim('m'), runtime: { target: 'nowhere' } } })).body.error).toMatchObject({
      code: 'validation_failed',
      details: [expect.objectContaining({ field: 'spec.runtime.target' })],
    });
    expect((await ask({ spec: sim('m', { port: 1 }) })).body.error.details).toEqual([
      expect.objectContaining({ field: 'spec.runtime.args.port' }),
    ]);
    expect((await ask({ spec: sim('m'), keep_previous_seconds: 'long' })).status).toBe(400);
    expect((await ask({ spec: sim('m'), expected_active_revision: '7' })).status).toBe(412);
    const warned = await ask({ spec: sim('m-warn'), colour: 'red', strategy: { type: 'candidate', speed: 3 } });
    expect(warned.body.warnings).toEqual(
      ['colour', 'strategy.speed'].map((field) => ({ code: 'unknown_field', field })),
    );
    const busy = await ask({ spec: sim('m-late') });
    expect([busy.status, busy.body.error.code, busy.body.error.message]).toEqual([
      409,
      'operation_in_progress',
      expect.stringContaining(warned.body.operation.id),
    ]);
    await stack.operation(warned.body.operation.id);
  });
});
