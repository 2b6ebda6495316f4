import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { ConsoleBrowser, describeInBrowser, type Visit } from './console-visit.js';
import { person, recordTraffic, serve } from './console-scene.js';
import { Stack, until } from '../harness/stack.js';

jest.setTimeout(180_000);

/** Records are complete until about a minute ago. */
const MERGED_MS = 180_000;
const SLO = { metric: 'ttft_ms' as const, stat: 'p95' as const, threshold: 500 };

describeInBrowser('the autopilot in the console', () => {
  let stack: Stack;
  let browser: ConsoleBrowser;
  let visit: Visit;
  let page: Visit['page'];

  beforeAll(async () => {
    stack = await Stack.start({ gateway: true });
    await serve(stack, 'chat');
    await serve(stack, 'quiet');
    browser = await ConsoleBrowser.open(stack.apiUrl());
    visit = await browser.signedIn(stack.token);
    page = visit.page;
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  const panel = (name: string) => page.getByRole('region', { name, exact: true });
  const diagnosis = () => stack.slipway().autopilot.diagnosis.get('chat');
  const planOf = async (deployment: string) =>
    (await stack.slipway().autopilot.plans.list({ deployment, state: 'pending' })).data[0];
  /** Lets the worker check all deployments now. */
  const check = () => stack.query('update autopilot_schedules set next_run_at = now()');

  it('has a tab that offers the first policy, and shows the diagnosis once it is set', async () => {
    await visit.open('/deployments/quiet');
    // The overview takes the whole height of the window, and leaves the tabs theirs.
    const tabs = page.getByRole('tablist', { name: 'Views of the deployment' });
    expect(await tabs.evaluate((list: any) => list.scrollHeight - list.clientHeight)).toBe(0);
    await tabs.getByRole('tab', { name: 'Autopilot' }).click();
    await page.waitForURL(/tab=autopilot/);
    await page.getByText('No policy yet').waitFor();
    await page.getByRole('button', { name: 'Set policy' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Set', exact: true }).click();
    await panel('Last decision').waitFor();
    await page.getByText('The policy has no SLOs').waitFor();
    await panel('Workload').getByRole('rowheader', { name: 'Requests per second' }).waitFor();
    await panel('Cost').getByText('no price', { exact: true }).waitFor();
    expect(visit.takeFaults()).toEqual([]);
  });

  it('shows a viewer why there is nothing, and no button', async () => {
    const viewer = await browser.signedIn(await person(stack, 'vera', 'viewer'), '/deployments/chat?tab=autopilot');
    await viewer.page.getByText('No policy yet').waitFor();
    expect(await viewer.page.getByRole('button', { name: 'Set policy' }).count()).toBe(0);
    expect(viewer.takeFaults()).toEqual([]);
    await viewer.close();
  });

  it('shows a missed SLO with its sentence, its numbers and its curve, and the decision with its plan', async () => {
    await stack
      .slipway()
      .deployments.policy.set('chat', {
        slos: [SLO],
        workload: { request_rate: 1 },
        evidence: { min_samples: 50, min_duration_seconds: 1_800 },
      });
    await recordTraffic(stack, 'chat');
    await until(
      'the records are merged',
      async () => {
        const { window, slos } = await diagnosis();
        return Date.parse(window?.to ?? '') > Date.now() - MERGED_MS && slos[0]?.cause === 'load_dependent';
      },
      60_000,
    );
    await check();
    await until('the autopilot has written a plan', async () => (await planOf('chat')) !== undefined, 60_000);

    await visit.open('/deployments/chat?tab=autopilot');
    // A later round decides that the plan is open; the plan stays.
    await panel('Last decision')
      .getByText(/TTFT p95 is [\d,]+ ms, limit 500/)
      .first()
      .waitFor();
    await panel('Last decision').getByRole('list', { name: 'Open plans' }).getByText('pending').waitFor();
    const shown = panel('ttft_ms p95');
    await shown.getByText(/limit 500 ms\. On an idle instance it is 1\d\d ms .*2 replicas are enough up to/).waitFor();
    await shown.getByText('missed under load').waitFor();
    const chart = shown.getByRole('img', {
      name: /^ttft_ms p95 by load: .* at load .*; limit 500 ms; load at the peak/,
    });
    await chart.waitFor();
    // The curve, its interval, the limit and the load at the peak.
    expect(await drawnIn(chart, ['--candidate', '--accent-soft', '--bad', '--info', '--baseline'])).toEqual([
      '--candidate',
      '--accent-soft',
      '--bad',
      '--info',
    ]);
    await shown.getByText('Numbers by load').click();
    // The titles, and the three loads of the traffic.
    expect(await shown.getByRole('row').count()).toBe(4);
    await panel('Workload').getByText('differs').first().waitFor();
    expect(visit.takeFaults()).toEqual([]);
  });

  it('shows now against predicted, the cost and the assumptions on the page of the plan, and to its approver', async () => {
    await visit.open('/deployments/chat');
    await panel('Policy and plans').getByText('Last decision').waitFor();
    await panel('Policy and plans').getByRole('link', { name: 'Why' }).click();
    await panel('Last decision').getByRole('list', { name: 'Open plans' }).getByRole('link').click();
    const picture = panel('Now and predicted');
    const metric = picture.getByRole('region', { name: 'ttft_ms p95' });
    await metric.getByText(/not yet calibrated/).waitFor();
    // The limit is read separately, from the policy.
    await metric.getByText('500 ms', { exact: true }).waitFor();
    expect(await metric.getByRole('term').allInnerTexts()).toEqual(['now', 'predicted', 'limit']);
    await metric.getByText(/^\d+ ms \(\d+ to \d+ ms\)$/).waitFor();
    await panel('Cost and assumptions').getByText('requests at the peak').waitFor();
    await page.getByText('scale up', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('dialog').getByRole('region', { name: 'ttft_ms p95' }).waitFor();
    await page.getByRole('dialog').getByText('strategy', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    expect(visit.takeFaults()).toEqual([]);
  });

  it('shows predicted against achieved values on the page of the calibration, and on that of their plan', async () => {
    const { id } = (await planOf('chat'))!;
    // The rollout of the plan and its outcomes have end-to-end tests of their own.
    await stack.query(
      `insert into autopilot_plan_outcomes (plan_id, phase, metric, stat, tenant_id, deployment_id, kind, now, predicted,
         achieved, within, log_error, result, has_moved, assumptions_hold)
       select p.id, o.phase, 'ttft_ms', 'p95', p.tenant_id, p.deployment_id, 'scale_up', 1000, '{"value":400,"low":320,"high":500}',
         jsonb_build_object('value', o.value, 'low', o.value - 20, 'high', o.value + 20, 'n', 900), o.value <= 500,
         ln(o.value / 400.0), case when o.value <= 500 then 'as_predicted' else 'better' end, true, true
       from autopilot_plans p cross join (values ('promotion', 410), ('window', 640)) o(phase, value) where p.id = $1`,
      [id],
    );
    await visit.open('/plans');
    await page.getByRole('link', { name: 'Calibration' }).click();
    const kind = panel('scale up');
    await kind.getByText(/0 of 1 plan/).waitFor();
    const picture = kind.getByRole('img', { name: /ttft_ms p95/ });
    // The values inside and outside their intervals, and the band of new plans.
    for (const part of ['circle', 'rect', 'polygon']) expect(await picture.locator(part).count()).toBe(1);
    await kind.getByText('Numbers of the newest predictions').click();
    const rows = kind.getByRole('row');
    expect(await rows.count()).toBe(3);
    await rows.filter({ hasText: '410 ms' }).getByText('yes').waitFor();
    await rows.filter({ hasText: '640 ms' }).getByText('no').waitFor();
    await rows.getByRole('link', { name: 'chat' }).first().click();
    await panel('Now and predicted')
      .getByText(/640 ms/)
      .first()
      .waitFor();
    expect(visit.takeFaults()).toEqual([]);
  });

  it('shows the plan of a person without predictions as it was written', async () => {
    const plan = await stack
      .slipway()
      .autopilot.plans.create({
        deployment: 'quiet',
        changes: [{ op: 'replace', path: '/scaling/min_replicas', from: 1, value: 2 }],
        predicted_impact: { ttft: 'half of it' },
      });
    await visit.open(`/plans/${plan.id}`);
    await panel('Predicted impact').getByText('half of it').waitFor();
    expect(await panel('Now and predicted').count()).toBe(0);
    expect(visit.takeFaults()).toEqual([]);
  });
});

/** Returns which of these colours of the theme a picture has. Ends of lines are partly transparent. */
function drawnIn(chart: Locator, names: string[]): Promise<string[]> {
  return chart.locator('canvas').evaluate((canvas: any, colors: string[]) => {
    const page = globalThis as any;
    const style = page.getComputedStyle(page.document.documentElement);
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return colors.filter((name) => {
      const color: string = style.getPropertyValue(name).trim();
      const parts = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
      for (let i = 0; i < data.length; i += 4)
        if (data[i + 3] > 60 && parts.every((part, n) => Math.abs(part - data[i + n]) <= 3)) return true;
      return false;
    });
  }, names);
}
