import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Slipway } from '@slipway/sdk';
import { ConsoleBrowser, describeInBrowser, type Visit } from './console-visit.js';
import { person, publish, serve } from './console-scene.js';
import { HostedProvider, makeKey } from '../harness/hosted-provider.js';
import { startLeakySupplier, tracesOf, type LeakySupplier } from '../harness/leaky-supplier.js';
import { Stack } from '../harness/stack.js';

jest.setTimeout(150_000);

const SENTINEL = 'zzsupplierzz';
const SLUG = 'acme/chat';

describeInBrowser('people in the console', () => {
  const client = { redirectUri: 'http://unknown.invalid/', accessTokenSeconds: 600 };
  const provider = new HostedProvider({}, { ada: 'org_acme' }, client);
  let supplier: LeakySupplier;
  let stack: Stack;
  let slipway: Slipway;
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    const key = await makeKey('first');
    await provider.start([key]);
    supplier = await startLeakySupplier(SENTINEL);
    stack = await Stack.start({
      gateway: true,
      env: (apiUrl) => {
        client.redirectUri = `${apiUrl}/console/callback`;
        return {
          ...provider.environment,
          SLIPWAY_PUBLIC_URL: apiUrl,
          SLIPWAY_IDENTITY_CLIENT_ID: 'console',
          SLIPWAY_IDENTITY_CLIENT_SECRET: 'secret-of-console',
        };
      },
    });
    // Restarted, now that the redirect address is known.
    await provider.stop();
    await provider.start([key]);
    slipway = stack.slipway();
    await serve(stack, 'chat');
    await publish(stack, supplier, SLUG);
    browser = await ConsoleBrowser.open(stack.apiUrl());
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await supplier?.stop();
    await provider.stop();
  });

  it('a viewer is not offered forbidden actions, and is refused when trying them', async () => {
    const visit = await browser.signedIn(await person(stack, 'vera', 'viewer'));
    const { page } = visit;
    await visit.open('/deployments');
    await page.getByRole('link', { name: 'chat', exact: true }).first().waitFor();
    const menu = page.getByRole('navigation', { name: 'Pages' });
    expect(await menu.getByRole('link').allInnerTexts()).toEqual(
      expect.not.arrayContaining(['Model APIs', 'Access', 'Tokens', 'Tenants', 'Webhooks', 'Audit']),
    );
    const acts =
      /^(set|change|create|new|register|roll|cancel|abort|pause|promote|retry|resume|approve|reject|delete|revoke|upload|publish)\b/i;
    for (const screen of ['/deployments', '/deployments/chat', '/operations', '/plans', '/sandboxes']) {
      await visit.open(screen);
      expect([screen, await page.getByRole('main').getByRole('button', { name: acts }).allInnerTexts()]).toEqual([
        screen,
        [],
      ]);
    }
    expect(visit.takeFaults()).toEqual([]);

    expect(await tryAs(visit, 'POST', '/deployments', { name: 'by-viewer' })).toBe('403 scope_insufficient');
    expect(await tryAs(visit, 'POST', '/deployments/chat/rollback', {})).toBe('403 scope_insufficient');
    expect(await tryAs(visit, 'PUT', '/deployments/chat/continual-optimization/policy', {})).toBe(
      '403 scope_insufficient',
    );
    await visit.open('/tokens');
    await page.getByRole('alert').filter({ hasText: 'scope_insufficient' }).first().waitFor();
    expect(visit.takeFaults(/^403 /)).toEqual([]);
    await visit.close();
  });

  it('the menu shows tenants to the operator, and to no other admin', async () => {
    const { token } = await slipway.tenants.create({ name: 'elsewhere' });
    for (const [admin, isOperator] of [
      [stack.token, true],
      [token, false],
    ] as const) {
      const visit = await browser.signedIn(admin!);
      const menu = visit.page.getByRole('navigation', { name: 'Pages' });
      await menu.getByRole('link', { name: 'Tokens' }).waitFor();
      expect((await menu.getByRole('link', { name: 'Tenants' }).count()) > 0).toBe(isOperator);
      await visit.close();
    }
  });

  it("nothing that a viewer's browser receives names a supplier", async () => {
    const visit = await browser.signedIn(await person(stack, 'vic', 'viewer'));
    const { page } = visit;
    await visit.open('/catalog?model=acme%2Fchat');
    await page.getByText('Acme Chat').first().waitFor();
    await visit.open('/playground?model=acme%2Fchat');
    await page.getByLabel('Message', { exact: true }).fill('Who are you?');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('article').getByText('done').waitFor();
    supplier.setFailing(true);
    await page.getByLabel('Message', { exact: true }).fill('And now?');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('article').last().getByRole('alert').waitFor();
    supplier.setFailing(false);
    for (const screen of ['/deployments', '/operations', '/targets', '/system']) await visit.open(screen);

    const received = visit.answers.filter((answer) => !new URL(answer.url()).pathname.startsWith('/assets/'));
    expect(received.length).toBeGreaterThan(20);
    for (const answer of received) {
      const text = JSON.stringify([answer.url(), await answer.allHeaders()]) + (await answer.text().catch(() => ''));
      for (const trace of tracesOf(SENTINEL)) expect([answer.url(), trace.exec(text)]).toEqual([answer.url(), null]);
    }
    expect(await page.content()).not.toMatch(new RegExp(SENTINEL, 'i'));
    await visit.close();
  });

  it('a second person approves a plan, and serving does not change', async () => {
    const [alice, bob] = [await person(stack, 'alice', 'operator'), await person(stack, 'bob', 'operator')];
    const changes = [{ op: 'replace' as const, path: '/scaling/min_replicas', from: 1, value: 2 }];
    const plan = await stack.as(alice).autopilot.plans.create({ deployment: 'chat', changes });
    const before = await slipway.deployments.route.get('chat');

    const hers = await browser.signedIn(alice, `/plans/${plan.id}`);
    await hers.page.getByRole('button', { name: 'Approve' }).click();
    await hers.page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await hers.page.getByRole('dialog').getByRole('alert').filter({ hasText: 'self_approval_forbidden' }).waitFor();
    expect(hers.takeFaults(/^403 .*\/approve/)).toEqual([]);
    await hers.close();

    const his = await browser.signedIn(bob, `/plans/${plan.id}`);
    await his.page.getByRole('button', { name: 'Approve' }).click();
    await his.page
      .getByRole('dialog')
      .getByText('Approving only records your approval. Serving does not change.')
      .waitFor();
    await his.page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await his.page.getByText('1 of 1 required approval.').waitFor();
    expect((await slipway.autopilot.plans.get(plan.id)).approval).toMatchObject({ state: 'approved' });
    expect(await slipway.deployments.route.get('chat')).toEqual(before);
    expect(his.takeFaults()).toEqual([]);
    await his.close();
  });

  it('a person of the identity provider signs in, returns to the link, and is signed out once revoked', async () => {
    const admin = await browser.signedIn(stack.token, '/access');
    const dialog = admin.page.getByRole('dialog');
    const visit = await browser.visit({ origins: [provider.issuer] });
    const { page } = visit;
    const signIn = async () => {
      await page.getByRole('link', { name: 'Sign in with your identity provider' }).click();
      await page.getByRole('link', { name: 'Go on as ada' }).click();
    };
    await page.goto('/deployments/chat?show=instances');
    await signIn();
    await page.getByText('but you have no access here').waitFor();
    await admin.page.getByRole('button', { name: 'Grant access' }).click();
    await dialog.getByLabel('Organization').fill('org_acme');
    await dialog.getByLabel('User').fill('ada');
    await dialog.getByRole('checkbox', { name: 'operator' }).check();
    await dialog.getByRole('button', { name: 'Grant' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.goto('/deployments/chat?show=instances');
    await page.getByRole('link', { name: 'Sign in with your identity provider' }).click();
    // The provider either remembers the person or asks again.
    const asked = page.getByRole('link', { name: 'Go on as ada' });
    const menu = page.getByRole('navigation', { name: 'Pages' });
    await asked.or(menu).first().waitFor();
    if (await asked.isVisible()) await asked.click();
    await menu.waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/deployments/chat?show=instances');
    await visit.open('/playground?model=chat');
    await page.getByLabel('Message', { exact: true }).fill('Who answers?');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('article').getByText('done').waitFor();
    await visit.open('/deployments/chat');
    expect(visit.takeFaults()).toEqual([]);

    await admin.page.getByRole('button', { name: 'Revoke: ada' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    // Without a click, at the next request of the page.
    await page.getByText('Your session has ended.').waitFor({ timeout: 30_000 });
    expect(visit.takeFaults(/^40[13] /)).toEqual([]);
    expect(admin.takeFaults()).toEqual([]);
    await visit.close();
    await admin.close();
  });
});

/** Sends a request like a page that offers more than it should. */
async function tryAs({ page }: Visit, method: string, target: string, body: object): Promise<string> {
  const asked = JSON.stringify([method, target, JSON.stringify(body)]);
  return (await page.evaluate(`(async ([method, target, body]) => {
    const { csrf } = await (await fetch('/console/session')).json();
    const headers = { 'content-type': 'application/json', 'x-csrf-token': csrf };
    const answer = await fetch('/console/api/v1' + target, { method, body, headers });
    return answer.status + ' ' + (await answer.json()).error?.code;
  })(${asked})`)) as string;
}
