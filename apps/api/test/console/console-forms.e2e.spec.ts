import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import type { Slipway } from '@slipway/sdk';
import { ConsoleBrowser, describeInBrowser, type Visit } from './console-visit.js';
import { serve } from './console-scene.js';
import { Stack } from '../harness/stack.js';

jest.setTimeout(120_000);

/** An engine next to the built-in one, whose arguments have types. */
const TYPED_ENGINE = `
targets:
  - name: local
    engines:
      typed:
        command: [server, --port, '{port}']
        args:
          batch: { arg: '--batch={}', type: integer, min: 1, max: 64, default: 8, reason: throughput versus latency }
          cache: { arg: '--cache={}', type: choice, choices: [f16, q8_0], quality: true }
          eager: { arg: '--eager', type: switch, default: true }
`;

describeInBrowser('forms of the console, whose fields come from the document', () => {
  let stack: Stack;
  let slipway: Slipway;
  let browser: ConsoleBrowser;
  let visit: Visit;
  let page: Visit['page'];

  beforeAll(async () => {
    stack = await Stack.start({ gateway: true, config: () => TYPED_ENGINE });
    slipway = stack.slipway();
    await serve(stack, 'chat');
    browser = await ConsoleBrowser.open(stack.apiUrl());
    visit = await browser.signedIn(stack.token);
    page = visit.page;
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });
  beforeEach(() => void visit.takeFaults());

  const dialog = () => page.getByRole('dialog');
  const field = (name: string) => dialog().getByLabel(name, { exact: true });
  /** Returns the text that a screen reader adds to the field. */
  const saidOf = async (name: string) => {
    const ids = (await field(name).getAttribute('aria-describedby')) ?? '';
    return Promise.all(ids.split(' ').map((id) => page.locator(`[id="${id}"]`).innerText()));
  };

  it('show an error at the field before anything is sent, and fold rarely needed fields', async () => {
    await visit.open('/deployments');
    await page.getByRole('button', { name: 'Create deployment', exact: true }).click();
    const create = dialog().getByRole('button', { name: 'Create', exact: true });
    expect(await create.isDisabled()).toBe(true);
    await field('Name').fill('Not A Name');
    await dialog().getByText('Lowercase letters, digits and inner hyphens, at most 63 characters').waitFor();
    expect(await field('Name').getAttribute('aria-invalid')).toBe('true');
    expect((await saidOf('Name')).at(-1)).toMatch(/^Lowercase letters, digits/);
    expect(await create.isDisabled()).toBe(true);
    await field('Name').fill('guarded');
    await field('Labels').fill('team=search, tier=1');
    await dialog().locator('summary').click();
    await field('Deletion').check();
    await field('Revision history limit').fill('0');
    await dialog().getByText('At least 1', { exact: true }).waitFor();
    await field('Revision history limit').fill('5');
    await create.click();
    await page.waitForURL('**/deployments/guarded');
    expect(await slipway.deployments.get('guarded')).toMatchObject({
      labels: { team: 'search', tier: '1' },
      protection: { deletion: true, rollouts: 'any' },
      revision_history_limit: 5,
    });
    expect(visit.takeFaults()).toEqual([]);
  });

  it("show the api's refusal at its field until the field is changed", async () => {
    await visit.open('/webhooks');
    await page.getByRole('button', { name: 'Create webhook' }).first().click();
    await field('URL').fill('http://127.0.0.1:1/hook');
    await dialog().getByRole('button', { name: 'Create' }).click();
    await dialog().getByRole('alert').waitFor();
    expect(await field('URL').getAttribute('aria-invalid')).toBe('true');
    expect((await saidOf('URL')).length).toBe(2);
    await field('URL').fill('https://hooks.example.com/slipway');
    expect(await field('URL').getAttribute('aria-invalid')).toBeNull();
    const types = dialog().getByRole('group', { name: 'Event types' });
    for (const type of ['rollout.*', 'route.updated'])
      await types.getByRole('checkbox', { name: type, exact: true }).check();
    await dialog().getByRole('button', { name: 'Create' }).click();
    await dialog().getByText('is signed with this secret').waitFor();
    expect((await slipway.webhooks.list()).data).toMatchObject([{ event_types: ['rollout.*', 'route.updated'] }]);
    expect(visit.takeFaults(/^422 .*\/webhooks/)).toEqual([]);
  });

  it('rotate the secret of a webhook, show it once, and pause the webhook', async () => {
    const [before] = (await slipway.webhooks.list()).data;
    await visit.open('/webhooks');
    await page.getByText('More', { exact: true }).click();
    await page.getByRole('button', { name: `Rotate secret: ${before!.url}` }).click();
    await field('Overlap, s').fill('60');
    await dialog().getByRole('button', { name: 'Rotate secret' }).click();
    await dialog().getByText('Signing secret rotated').waitFor();
    expect(await field('secret').inputValue()).toMatch(/^whsec_/);
    await dialog().getByRole('button', { name: 'Copy' }).click();
    await dialog().getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: `Pause: ${before!.url}` }).click();
    await dialog().getByRole('button', { name: 'Pause' }).click();
    await dialog().waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: `Resume: ${before!.url}` }).waitFor();
    const [after] = (await slipway.webhooks.list()).data;
    expect(after).toMatchObject({ state: 'disabled', disabled_reason: 'requested', url: before!.url });
    expect(after!.previous_secret_until).not.toBeNull();
    expect(visit.takeFaults()).toEqual([]);
  });

  it('change only the edited fields of a deployment, and delete it once its name is typed', async () => {
    await visit.open('/deployments/guarded');
    const main = page.getByRole('main');
    await main.getByRole('button', { name: 'Edit', exact: true }).click();
    const save = dialog().getByRole('button', { name: 'Save', exact: true });
    expect(await save.isDisabled()).toBe(true);
    await field('Description').fill('For search');
    await field('Labels').fill('tier=2');
    await dialog().locator('summary').last().click();
    await field('Deletion').uncheck();
    await slipway.deployments.update('guarded', { display_name: 'By another person' });
    await save.click();
    await page.getByText('Deployment guarded changed').waitFor();
    expect(await slipway.deployments.get('guarded')).toMatchObject({
      display_name: 'By another person',
      description: 'For search',
      labels: { tier: '2' },
      protection: { deletion: false },
      revision_history_limit: 5,
    });

    await main.getByRole('button', { name: 'Delete', exact: true }).click();
    const remove = dialog().getByRole('button', { name: 'Delete', exact: true });
    await field('Type guarded to confirm').fill('guard');
    expect(await remove.isDisabled()).toBe(true);
    await field('Type guarded to confirm').fill('guarded');
    await remove.click();
    await page.waitForURL(/\/operations\/op_/);
    await stack.operation(new URL(page.url()).pathname.split('/').at(-1)!);
    await expect(slipway.deployments.get('guarded')).rejects.toMatchObject({ code: 'deployment_not_found' });
    expect(visit.takeFaults(/^404 .*\/deployments\/guarded/)).toEqual([]);
  });

  it('set a route by hand, and say why it is refused', async () => {
    await visit.open('/deployments/chat');
    await page.getByRole('main').getByRole('button', { name: 'Set route' }).click();
    await field('Weight, %').fill('90');
    await dialog().getByText('The weights sum to 90 %. They must sum to 100 %.').waitFor();
    await dialog().getByRole('button', { name: 'Set route' }).click();
    await dialog().getByRole('alert').filter({ hasText: 'route_weights_invalid' }).waitFor();
    await field('Weight, %').fill('100');
    await field('Mode').selectOption('none');
    await field('Reason').fill('back by hand');
    await dialog().getByRole('button', { name: 'Set route' }).click();
    await page.getByText('Route of chat set').waitFor();
    expect(await slipway.deployments.route.get('chat')).toMatchObject({
      reason: 'back by hand',
      affinity: { mode: 'none' },
    });
    expect(visit.takeFaults(/^422 .*\/route/)).toEqual([]);
  });

  it('roll out with every field of the request available', async () => {
    await visit.open('/deployments/chat');
    await page.getByRole('main').getByRole('button', { name: 'Roll out', exact: true }).click();
    await field('Strategy').selectOption('immediate');
    expect(await dialog().getByRole('group', { name: 'Steps' }).count()).toBe(0);
    await field('ID').fill('chat-two');
    await field('Reason').fill('a newer model');
    await dialog().locator('summary').last().click();
    await field('Change ref').fill('git:4f2a1c9');
    await field('Progress deadline, s').fill('0');
    await dialog().getByText('Missing or invalid: progress_deadline_seconds').waitFor();
    await field('Progress deadline, s').fill('90');
    await field('Min replicas').fill('2');
    await dialog().getByRole('button', { name: 'Preview' }).click();
    await dialog().getByRole('region', { name: 'Preview' }).waitFor();
    await dialog().getByRole('button', { name: 'Roll out', exact: true }).click();
    await dialog().waitFor({ state: 'hidden' });
    const { data } = await slipway.operations.list({ resource_name: 'chat', limit: 1 });
    const { status } = await stack.operation(data[0]!.id);
    expect([status, data[0]!.reason]).toEqual(['succeeded', 'a newer model']);
    expect(await slipway.deployments.revisions.get('chat', 'chat-00002')).toMatchObject({
      change_ref: 'git:4f2a1c9',
      spec: { model: { id: 'chat-two' }, runtime: { target: 'local', engine: 'sim' }, scaling: { min_replicas: 2 } },
    });
    expect(visit.takeFaults()).toEqual([]);
  });

  it("offer the engine's arguments with their types, defaults, limits and help", async () => {
    await visit.open('/deployments/chat');
    await page.getByRole('main').getByRole('button', { name: 'Roll out', exact: true }).click();
    expect(await saidOf('ttft_ms')).toEqual(['Time to the first token, in ms. Text or number.']);
    await field('Engine').selectOption('typed');
    expect(await saidOf('batch')).toEqual(['Throughput versus latency. Whole number from 1 to 64. Default: 8.']);
    expect(await field('batch').getAttribute('placeholder')).toBe('Default: 8');
    await field('batch').fill('65');
    await dialog().getByText('At most 64', { exact: true }).waitFor();
    expect(await field('batch').getAttribute('aria-invalid')).toBe('true');
    expect(await field('cache').locator('option').allInnerTexts()).toEqual(['not set', 'f16', 'q8_0']);
    expect(await saidOf('cache')).toEqual(['One of the choices. May change the quality of the responses.']);
    expect(await field('eager').locator('option').allInnerTexts()).toEqual(['Default: true', 'true', 'false']);
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'hidden' });
    expect(visit.takeFaults()).toEqual([]);
  });

  it('show the refusal of a rehearsal at the field of the spec that caused it', async () => {
    await visit.open('/deployments/chat');
    await page.getByRole('main').getByRole('button', { name: 'Roll out', exact: true }).click();
    await dialog().locator('summary').last().click();
    await field('Idle, s').fill('60');
    await dialog().getByRole('button', { name: 'Preview' }).click();
    await dialog().getByRole('alert').waitFor();
    expect(await field('Idle, s').getAttribute('aria-invalid')).toBe('true');
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'hidden' });
    expect(visit.takeFaults(/^4\d\d .*\/rollouts/)).toEqual([]);
  });

  it("change the policy of a deployment, and do not overwrite another person's change", async () => {
    const { policy } = slipway.deployments;
    await visit.open('/deployments/chat');
    await page.getByRole('button', { name: 'Set policy' }).click();
    await field('Mode').selectOption('observe');
    await dialog().getByRole('button', { name: 'Add to SLOs' }).click();
    const slo = dialog().getByRole('group', { name: 'SLOs 1' });
    await slo.getByLabel('Metric').selectOption('ttft_ms');
    await slo.getByText('This field is required.').waitFor();
    await slo.getByLabel('Threshold').fill('200');
    await dialog().getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByText('Policy version 1 is active').waitFor();
    expect(await policy.get('chat')).toMatchObject({
      mode: 'observe',
      slos: [{ metric: 'ttft_ms', threshold: 200 }],
      promotion: { approvals_required: 1, prevent_self_approval: true },
    });

    await page.getByRole('button', { name: 'Change policy' }).click();
    expect(await field('Mode').inputValue()).toBe('observe');
    await field('Approvals required').fill('2');
    await policy.set('chat', { mode: 'recommend' });
    await dialog().getByRole('button', { name: 'Set', exact: true }).click();
    await dialog().getByRole('alert').filter({ hasText: 'precondition_failed' }).waitFor();
    expect(await policy.get('chat')).toMatchObject({ mode: 'recommend', promotion: { approvals_required: 1 } });
    expect(visit.takeFaults(/^412 .*\/policy/)).toEqual([]);
  });
});
