import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { codeOf, refusalOf } from '../harness/refusals.js';
import { Stack, until } from '../harness/stack.js';

jest.setTimeout(180_000);

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.start({ config: () => 'targets: []\nretention: {events_days: 2, operations_days: 1}\n' });
});
afterAll(() => stack?.stop());

const SPEC = { model: { id: 'm' }, runtime: { target: 'local', engine: 'sim' } };
const eventsOf = async (name: string, query: object) => {
  const { data } = await stack.slipway().deployments.events.list(name, { order: 'asc', limit: 200, ...query });
  return data.map(({ sequence }) => sequence);
};
/** Returns the first event that a stream sends to a client that returns with this id. */
async function resumed(name: string, after: number): Promise<number | undefined> {
  const events = stack.slipway().deployments.events.follow(name, { after });
  try {
    return (await events.next()).value?.sequence;
  } finally {
    await events.return(undefined);
  }
}
/** A worker sweeps soon after its start. */
async function sweep(): Promise<void> {
  await stack.kill('worker');
  await stack.query(`update event_streams set oldest_at = 'epoch'`);
  stack.spawn('worker', 0);
  await stack.ready();
}

it('deletes old events and operations as the file says, but nothing that is needed, and never the audit', async () => {
  const { deployments, operations } = stack.slipway();
  await deployments.create({ name: 'quiet' });
  await deployments.update('quiet', { description: 'changed' });
  await deployments.create({ name: 'chat' });
  const over = await stack.rollOut('chat', { spec: SPEC, strategy: { type: 'immediate' } });
  expect((await stack.operation(over)).status).toBe('succeeded');
  const live = await stack.rollOut('chat', {
    spec: { ...SPEC, model: { id: 'n' } },
    strategy: { type: 'canary', steps: [{ traffic_percent: 50, soak_seconds: 3_600 }, { traffic_percent: 100 }] },
  });
  await stack.operation(live, ['waiting']);
  expect((await stack.slipway().system()).retention_days).toMatchObject({ events: 2, operations: 1 });

  // Ten days pass.
  await stack.kill('worker');
  await stack.query(`update events set time = time - interval '10 days'`);
  await stack.query(`update operations set completed_at = completed_at - interval '10 days'`);
  const all = await eventsOf('chat', {});
  await sweep();
  await until('the operation that ended is forgotten', async () => {
    const [row] = await stack.query('select count(*)::int as count from operations where id = $1', [over]);
    return row.count === 0;
  });
  // Rows that were needed until now are checked again an hour later.
  await sweep();
  const firstOfLive = async () =>
    Math.min(...(await operations.events.list(live, { order: 'asc' })).data.map(({ sequence }) => sequence));
  const first = await firstOfLive();
  expect(first).toBeGreaterThan(2);
  await until('old events are gone', async () => (await eventsOf('chat', {}))[0] === first);
  expect(await eventsOf('chat', {})).toEqual(all.filter((sequence) => sequence >= first));
  expect(await firstOfLive()).toBe(first);
  await until('the quiet one has its newest', async () => (await eventsOf('quiet', {})).join() === '2');

  expect(await codeOf(eventsOf('chat', { after: first - 2 }))).toBe('410 cursor_expired');
  expect((await eventsOf('chat', { after: first - 1 }))[0]).toBe(first);
  const refused = await refusalOf(resumed('chat', first - 2));
  expect([refused.status, refused.body]).toEqual([
    410,
    expect.objectContaining({ code: 'cursor_expired', first_sequence: first }),
  ]);
  expect(await resumed('chat', first - 1)).toBe(first);
  // The audit is complete, although it is older than anything else that is kept.
  const [{ count }] = await stack.query(`select count(*)::int as count from audit_log where action like 'rollout%'`);
  expect(count).toBeGreaterThanOrEqual(2);
});
