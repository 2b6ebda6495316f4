import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { CDPSession } from 'playwright-core';
import type { Slipway } from '@slipway/sdk';
import { ConsoleBrowser, describeInBrowser, type Visit } from './console-visit.js';
import { age, happen, serve } from './console-scene.js';
import { Stack } from '../harness/stack.js';

jest.setTimeout(180_000);

const REVISIONS = 60;
const EVENTS = 10_000;
const ASKED = 20;
const FILLED_MS = 2_500;
/** On a busy machine: how many times as long as the page of a deployment with one revision it may take. */
const FILLED_RATIO = 2;
/** One event per second for eight hours, and the allowed growth of the heap after the first tenth of them. */
const WATCHED = 28_800;
const BATCH = 1_440;
const GROWTH = 1.2;

describeInBrowser('numbers in the console', () => {
  let stack: Stack;
  let slipway: Slipway;
  let browser: ConsoleBrowser;
  let visit: Visit;
  let page: Visit['page'];

  beforeAll(async () => {
    stack = await Stack.start({ gateway: true });
    slipway = stack.slipway();
    await serve(stack, 'chat');
    await serve(stack, 'small');
    await slipway.deployments.policy.set('chat', { mode: 'recommend' });
    for (let n = 0; n < ASKED; n += 1) await chat();
    await age(stack, 'chat', REVISIONS);
    await happen(stack, 'chat', EVENTS);
    browser = await ConsoleBrowser.open(stack.apiUrl());
    visit = await browser.signedIn(stack.token, '/deployments');
    page = visit.page;
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  const chat = () =>
    fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'hello' }] }),
    }).then((answer) => answer.arrayBuffer());
  const panel = (name: string) => page.getByRole('region', { name, exact: true });
  const lastSequence = async () =>
    (await slipway.deployments.events.list('chat', { order: 'desc', limit: 1 })).data[0]!.sequence;
  const timeOfSmall = async () => {
    const begun = performance.now();
    await page.goto('/deployments/small');
    await page.getByText('1 of 1 instances ready').waitFor();
    await panel('Traffic').getByText('last good').waitFor();
    await panel('Operation').getByText('await_ready').first().waitFor();
    return performance.now() - begun;
  };
  const hasEvent = (sequence: number) =>
    panel('Events')
      .getByRole('button', { name: `${sequence} ` })
      .first()
      .waitFor();

  it(`shows a complete deployment with ${REVISIONS} revisions and ${EVENTS} events within ${FILLED_MS} ms`, async () => {
    const last = await lastSequence();
    const times: number[] = [];
    const timesOfSmall: number[] = [];
    for (let time = 0; time < 5; time += 1) {
      timesOfSmall.push(await timeOfSmall());
      const begun = performance.now();
      await page.goto('/deployments/chat');
      await page.getByText('1 of 1 instances ready').waitFor();
      await panel('Traffic').getByText('last good').waitFor();
      await panel('Operation').getByText('await_ready').first().waitFor();
      await panel('Metrics').getByText('Time to first token').waitFor();
      await panel('Revisions')
        .getByRole('rowheader', { name: String(REVISIONS), exact: true })
        .waitFor();
      await hasEvent(last);
      await panel('Policy and plans').getByText('Version').waitFor();
      times.push(performance.now() - begun);
    }
    // The best of five, because other suites use the machine at the same time. The load of two neighbours is alike.
    const ratios = times.map((ms, at) => ms / timesOfSmall[at]!);
    const isFast = Math.min(...times) <= FILLED_MS || Math.min(...ratios) <= FILLED_RATIO;
    expect({ isFast, times, timesOfSmall }).toMatchObject({ isFast: true });
    expect(visit.takeFaults()).toEqual([]);
  });

  it('shows the numbers of the api', async () => {
    const [deployment, route, operations, revisions, instances, policy] = await Promise.all([
      slipway.deployments.get('chat'),
      slipway.deployments.route.get('chat'),
      slipway.operations.list({ resource_name: 'chat', limit: 1 }),
      slipway.deployments.revisions.list('chat', { limit: 200 }),
      slipway.deployments.instances.list('chat'),
      slipway.deployments.policy.get('chat'),
    ]);
    const { ready, desired } = deployment.replicas;
    await page.getByText(`${ready} of ${desired} instances ready`).waitFor();
    const traffic = panel('Traffic');
    await traffic.getByText(`generation ${route.generation},`).waitFor();
    for (const { revision, weight } of route.targets) {
      const its = instances.data.filter((one) => one.revision === revision);
      const healthy = its.filter(({ state }) => state === 'ready').length;
      const row = traffic.getByRole('listitem').filter({ hasText: revision });
      expect(await row.innerText()).toContain(`${weight} %`);
      expect(await row.innerText()).toContain(`${healthy} of ${its.length} healthy`);
    }
    const [operation] = operations.data;
    const shown = await panel('Operation').innerText();
    expect(shown).toContain(`${operation!.kind}, ${operation!.progress} %`);
    expect(shown).toContain(`of ${operation!.steps.length}`);
    expect(shown).toContain(`${operation!.attempt} of ${operation!.max_attempts}`);
    expect(shown).toContain(operation!.id);
    const numbers = await panel('Revisions').getByRole('rowheader').allInnerTexts();
    expect(numbers.map(Number)).toEqual(revisions.data.map(({ number }) => number));
    expect(await panel('Policy and plans').innerText()).toContain(`${policy.version}, `);
    // Each request is counted once, however the steps of the charts divide the time.
    const metrics = await slipway.deployments.metrics('chat', { revision: 'chat-00001' });
    expect(metrics.data.map(({ total }) => total.attempts.ok)).toEqual([ASKED]);
    await panel('Metrics').getByText(`chat-00001 (solid): ${ASKED} ok`).waitFor();
  });

  it(`holds about as much memory after ${WATCHED} events as after a tenth of them`, async () => {
    await visit.open('/deployments/chat');
    const session = await page.context().newCDPSession(page);
    const watch = async (count: number) => {
      for (let done = 0; done < count; done += BATCH) {
        await happen(stack, 'chat', Math.min(BATCH, count - done));
        await hasEvent(await lastSequence());
      }
      return heapOf(session);
    };
    const tenth = await watch(WATCHED / 10);
    const all = await watch(WATCHED - WATCHED / 10);
    expect(all / tenth).toBeLessThanOrEqual(GROWTH);
    expect(visit.takeFaults()).toEqual([]);
  });
});

/** Returns the used heap after a garbage collection, which frees unreferenced objects. */
async function heapOf(session: CDPSession): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round += 1) {
    await session.send('HeapProfiler.collectGarbage');
    least = Math.min(least, (await session.send('Runtime.getHeapUsage')).usedSize);
  }
  return least;
}
