import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import type { Slipway } from '@slipway/sdk';
import { ConsoleBrowser, describeInBrowser, type Visit } from './console-visit.js';
import { drawnTexts, isStepInView, recordCharts, tableFaults } from './console-layout.js';
import { serve, sim } from './console-scene.js';
import { Load } from '@slipway/platform-testing/load';
import { Stack, until } from '../harness/stack.js';

jest.setTimeout(160_000);

const GATE = { metrics: [{ name: 'error_rate', check: 'threshold', threshold: 0.05, min_samples: 5 }] };
const canary = (soak_seconds: number) => ({
  type: 'canary',
  steps: [50, 100].map((traffic_percent) => ({ traffic_percent, soak_seconds })),
});
const WIDE = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
/** The limit from a commit to its appearance on an open page. */
const VISIBLE_MS = 1_000;

describeInBrowser('rollouts watched in the console', () => {
  let stack: Stack;
  let slipway: Slipway;
  let browser: ConsoleBrowser;
  let visit: Visit;
  let page: Visit['page'];
  let load: Load;

  beforeAll(async () => {
    stack = await Stack.start({ gateway: true });
    slipway = stack.slipway();
    await serve(stack, 'chat');
    load = new Load(stack.gatewayUrl, stack.token, 'chat', 20);
    browser = await ConsoleBrowser.open(stack.apiUrl());
    visit = await browser.signedIn(stack.token);
    page = visit.page;
    await visit.open('/deployments/chat');
  });
  afterAll(async () => {
    await browser?.close();
    await load?.stop();
    await stack?.stop();
  });
  beforeEach(() => void visit.takeFaults());

  const panel = (name: string) => page.getByRole('region', { name, exact: true });
  const operationIs = (status: string) =>
    panel('Operation')
      .getByRole('heading')
      .locator('..')
      .getByText(status, { exact: true })
      .waitFor({ timeout: 60_000 });

  /** Presses the button and confirms. `says` is a text of the confirmation. */
  const act = async (button: string, { reason, says }: { reason?: string; says?: string } = {}) => {
    await page.getByRole('main').getByRole('button', { name: button, exact: true }).click();
    const dialog = page.getByRole('dialog');
    if (says) await dialog.getByText(says).waitFor();
    if (reason) await dialog.getByLabel('Reason').fill(reason);
    await dialog.getByRole('button', { name: new RegExp(`^${button}`) }).click();
    await dialog.waitFor({ state: 'hidden' });
  };

  it('shows a commit within a second', async () => {
    const times: number[] = [];
    for (let n = 1; n <= 5; n += 1) {
      await slipway.deployments.route.set('chat', { revision: 'chat-00001', affinity: { ttl_seconds: 100 + n } });
      const committed = performance.now();
      const { generation } = await slipway.deployments.route.get('chat');
      await panel('Traffic').getByText(`generation ${generation},`).waitFor();
      times.push(performance.now() - committed);
    }
    // The best of five, because other suites use the machine at the same time.
    expect(Math.min(...times)).toBeLessThanOrEqual(VISIBLE_MS);
    expect(visit.takeFaults()).toEqual([]);
  });

  it('follows a canary from its first step to its promotion', async () => {
    await stack.rollOut('chat', { spec: sim('chat-two'), strategy: canary(3), analysis: GATE });
    await panel('Traffic').getByText('Next step').waitFor();
    await panel('Traffic').getByText('chat-00002', { exact: true }).waitFor();
    await operationIs('succeeded');
    await panel('Traffic').getByText('chat-00001', { exact: true }).waitFor();
    const last = panel('Traffic').getByRole('listitem').filter({ hasText: 'last good' });
    await last.filter({ hasText: 'chat-00002' }).filter({ hasText: '100 %' }).waitFor();
    expect((await slipway.deployments.get('chat')).active_revision).toBe('chat-00002');
    expect(visit.takeFaults()).toEqual([]);
  });

  it('explains a breach: the code, the remedy, and the measured value beyond its limit', async () => {
    await stack.rollOut('chat', { spec: sim('chat-bad', { error_rate: 0.5 }), strategy: canary(4), analysis: GATE });
    await operationIs('failed');
    await panel('Operation').getByText('analysis_failed').first().waitFor();
    await panel('Operation').getByText('The gate was breached, and the previous route was restored.').waitFor();
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'error_rate', exact: true }) });
    await row.getByText('breached').waitFor();
    expect((await row.boundingBox())!.height).toBeLessThan(30);
    expect((await slipway.deployments.get('chat')).active_revision).toBe('chat-00002');
    expect(visit.takeFaults()).toEqual([]);
  });

  it.each([
    ['wide', WIDE],
    ['narrow', PHONE],
  ])('shows the failed step and the verdicts of an operation in a %s window', async (_, size) => {
    const { data } = await slipway.operations.list({ resource_name: 'chat', status: 'failed', limit: 1 });
    await page.setViewportSize(size);
    await visit.open(`/operations/${data[0]!.id}`);
    const step = page.getByRole('list', { name: 'Steps' }).locator('[aria-current="step"]');
    await step.filter({ hasText: 'failed' }).waitFor();
    await until('the failed step is in view', () => isStepInView(visit, true));
    const table = page.getByRole('table', { name: /^Verdicts of (soak|analyze):1$/ });
    const titles = ['Metric', 'Baseline', 'Candidate', 'Limit', 'Regression (bounds)', 'Samples', 'Verdict'];
    const cells = table.getByRole('row').filter({ hasText: 'error_rate rate' }).first().getByRole('cell');
    expect(await table.locator('th[scope=col]').allInnerTexts()).toEqual(titles);
    expect(await cells.allInnerTexts()).toEqual([
      '–',
      expect.stringMatching(/^\d[\d.]* %$/),
      '≤ 5 %',
      '–',
      expect.stringMatching(/^\d+/),
      'breached',
    ]);
    expect(await tableFaults(visit)).toEqual([]);
    await visit.open('/deployments/chat');
    const current = panel('Operation').locator('[aria-current="step"]');
    await current.filter({ hasText: 'failed' }).waitFor();
    expect(await isStepInView(visit, false)).toBe(true);
    expect(await tableFaults(visit)).toEqual([]);
    await page.setViewportSize(WIDE);
    expect(visit.takeFaults()).toEqual([]);
  });

  it('names its lines once for all charts, and draws every label whole', async () => {
    await recordCharts(visit);
    await visit.open('/deployments/chat?range=15m');
    const legend = panel('Metrics').getByRole('list', { name: 'Legend' });
    expect(await legend.count()).toBe(1);
    await legend.getByText(/chat-0000\d \(solid\)/).waitFor();
    await until('the charts are drawn', async () => (await drawnTexts(visit)).count > 0);
    expect((await drawnTexts(visit)).cut).toEqual([]);
    expect(visit.takeFaults()).toEqual([]);
  });

  it('is in the hands of a person: pause, resume, the next step, and all traffic', async () => {
    const steps = [10, 50, 100].map((traffic_percent) => ({ traffic_percent, soak_seconds: 600 }));
    const id = await stack.rollOut('chat', { spec: sim('chat-hands'), strategy: { type: 'canary', steps } });
    await panel('Traffic').getByText('Next step').waitFor();
    await act('Pause', { reason: 'the demo' });
    await panel('Operation')
      .getByText(/^Paused .*: the demo$/)
      .waitFor();
    await panel('Operation').getByText('slipway rollouts resume chat').waitFor();
    expect(await slipway.operations.get(id)).toMatchObject({ pause: { reason: 'the demo' } });
    await visit.open('/operations?waiting_for=resume');
    await page.getByRole('link', { name: 'rollout of chat' }).first().waitFor();
    await visit.open('/deployments/chat');
    await act('Resume');
    await page.getByRole('main').getByRole('button', { name: 'Pause', exact: true }).waitFor();
    await act('Promote next step');
    const candidate = panel('Traffic').getByRole('listitem').filter({ hasText: 'candidate' });
    await candidate.filter({ hasText: '50 %' }).waitFor();
    await act('Promote fully', { says: 'At 100 % of the traffic: the soak of 10 min, the gate' });
    await operationIs('succeeded');
    expect(visit.takeFaults()).toEqual([]);
  });

  it('rolls back in two clicks while a rollout runs, and shows the effect before the second one', async () => {
    await stack.rollOut('chat', { spec: sim('chat-three'), strategy: canary(60) });
    await panel('Traffic').getByText('Next step').waitFor();
    await page.evaluate(
      "window.clicks = 0; addEventListener('click', (event) => { window.clicks += event.isTrusted ? 1 : 0; }, true)",
    );
    await page.getByRole('main').getByRole('button', { name: 'Roll back', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The rollback replaces it immediately').waitFor();
    const preview = dialog.getByRole('region', { name: 'Preview' });
    const { active_revision: active, candidate_revision: candidate } = await slipway.deployments.get('chat');
    for (const line of [
      `${active} stays active`,
      `${candidate} 50 % → 0 %`,
      `${active} 50 % → 100 %`,
      '1 ready: the traffic moves immediately.',
    ])
      await preview.getByText(line, { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Roll back', exact: true }).click();
    expect(await page.evaluate('window.clicks')).toBe(2);
    await panel('Operation')
      .getByText(/^rollback, /)
      .waitFor();
    await operationIs('succeeded');
    const { data } = await slipway.operations.list({ resource_name: 'chat', limit: 2 });
    expect(data.map(({ kind, status, error_code }) => [kind, status, error_code])).toEqual([
      ['rollback', 'succeeded', undefined],
      ['rollout', 'cancelled', 'superseded'],
    ]);
    expect(visit.takeFaults()).toEqual([]);
  });

  it('aborts with a reason, which the operation shows', async () => {
    await stack.rollOut('chat', { spec: sim('chat-four'), strategy: canary(60) });
    await panel('Traffic').getByText('Next step').waitFor();
    await act('Abort', { reason: 'the wrong model' });
    await operationIs('cancelled');
    await panel('Operation').getByText('the wrong model').waitFor();
    const { data } = await slipway.operations.list({ resource_name: 'chat', limit: 1 });
    expect(data.map(({ status, cancel_reason }) => [status, cancel_reason])).toEqual([
      ['cancelled', 'the wrong model'],
    ]);
    expect(visit.takeFaults()).toEqual([]);
  });

  it('shows in red that no worker is polling, and continues by itself when one is back', async () => {
    await stack.kill('worker');
    await slipway.deployments.rollouts.create('chat', { spec: sim('chat-four'), strategy: { type: 'immediate' } });
    await panel('Operation')
      .getByRole('alert')
      .filter({ hasText: 'No worker is polling' })
      .waitFor({ timeout: 40_000 });
    stack.spawn('worker');
    await operationIs('succeeded');
    expect(await panel('Operation').getByRole('alert').count()).toBe(0);
    expect(visit.takeFaults()).toEqual([]);
  });

  it('shows that the api is away and how old its data is, and continues by itself when the api is back', async () => {
    await stack.kill('api');
    const banner = page.getByRole('status').filter({ hasText: 'The API is not responding correctly.' });
    await banner.filter({ hasText: /The data on this page is .* old\./ }).waitFor({ timeout: 30_000 });
    // The data stays visible, and its age continues to grow.
    expect(await panel('Traffic').getByRole('listitem').count()).toBeGreaterThan(0);
    const age = await banner.innerText();
    await banner.filter({ hasNotText: age }).waitFor();
    stack.spawn('api');
    await stack.ready();
    await banner.waitFor({ state: 'hidden', timeout: 30_000 });
    const { active_revision } = await slipway.deployments.get('chat');
    await slipway.deployments.route.set('chat', { revision: active_revision!, affinity: { ttl_seconds: 99 } });
    const { generation } = await slipway.deployments.route.get('chat');
    await panel('Traffic').getByText(`generation ${generation},`).waitFor({ timeout: 30_000 });
    await page.getByText(/^Live · /).waitFor({ timeout: 30_000 });
  });
});
