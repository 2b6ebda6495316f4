import { afterAll, expect, it, jest } from '@jest/globals';
import { TcpProxy } from '@slipway/platform-database/testing';
import { isSlipwayError } from '@slipway/sdk';
import { Load } from '@slipway/platform-testing/load';
import { until, type Stack } from '../harness/stack.js';
import { describeOnEachTarget } from '../harness/each-target.js';

/** The promise is two minutes; SLIPWAY_TEST_OUTAGE_SECONDS=120 tests all of them. */
const OUTAGE_SECONDS = Number(process.env['SLIPWAY_TEST_OUTAGE_SECONDS'] ?? 10);
/** The gateway is notified of a route and follows within a second; a busy machine needs the rest. */
const FOLLOW_MS = 10_000;
const RECOVERED_MS = 60_000;

jest.setTimeout(200_000 + OUTAGE_SECONDS * 1_000);

/** The api itself is always there, and answers. */
function unlessRefused(error: unknown): undefined {
  if (!isSlipwayError(error) || error.body === undefined) throw error;
}

describeOnEachTarget('Postgres away', (startStack) => {
  let stack: Stack | undefined;
  let proxy: TcpProxy | undefined;
  afterAll(async () => {
    await stack?.stop();
    await proxy?.close();
  });

  it('serves every known token while api, worker and Postgres are away, and follows the newest route when they are back, also after a silent loss', async () => {
    const admin = new URL(process.env['TEST_PG_URL'] as string);
    proxy = await TcpProxy.start({ host: admin.hostname, port: Number(admin.port || 5432) });
    stack = await startStack({ gateway: true, shipped: true, through: (url) => proxy!.through(url) });
    await stack.slipway().deployments.create({ name: 'chat' });
    for (const model of ['one', 'two']) {
      const id = await stack.rollOut('chat', {
        spec: { model: { id: model }, runtime: { target: 'local', engine: 'sim' } },
        strategy: { type: 'immediate' },
      });
      expect(await stack.operation(id)).toMatchObject({ status: 'succeeded' });
    }
    const load = new Load(stack.gatewayUrl, stack.token, 'chat', 50);
    await until('the load is served', async () => load.answers.length > 50);

    await Promise.all([stack.kill('api'), stack.kill('worker')]);
    proxy.refuse();
    await new Promise((resolve) => setTimeout(resolve, OUTAGE_SECONDS * 1_000));
    proxy.restore();
    stack.spawn('api');
    stack.spawn('worker');
    await stack.ready();
    const changed = Date.now();
    await stack.slipway().deployments.route.set('chat', { revision: 'chat-00001' });
    await until('the gateway follows', async () => load.answers.at(-1)?.revision === 'chat-00001', FOLLOW_MS);
    expect(Date.now() - changed).toBeLessThan(FOLLOW_MS);

    // The host of Postgres disappears without closing its connections, and another host gets its address.
    proxy.vanish();
    const gone = Date.now();
    await until(
      'api and worker are back',
      async () => {
        const body = {
          spec: { model: { id: `after-${Date.now()}` }, runtime: { target: 'local', engine: 'sim' } },
          strategy: { type: 'immediate' },
        };
        const id = await stack!.rollOut('chat', body).catch(unlessRefused);
        if (id === undefined) return false;
        expect(await stack!.operation(id)).toMatchObject({ status: 'succeeded' });
        return true;
      },
      RECOVERED_MS,
    );
    expect(Date.now() - gone).toBeLessThan(RECOVERED_MS);

    const answers = await load.stop();
    expect(answers.filter((one) => one.isCut || one.status !== 200)).toEqual([]);
    expect(answers.length).toBeGreaterThan(OUTAGE_SECONDS * 40);
  });
});
