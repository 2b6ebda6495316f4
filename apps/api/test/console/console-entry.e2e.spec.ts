import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { consoleAt } from './console-browser.js';
import { ConsoleBrowser, describeInBrowser } from './console-visit.js';
import { codeOf } from '../harness/refusals.js';
import { Stack } from '../harness/stack.js';

jest.setTimeout(120_000);

/** Of all scripts that the first screen loads, compressed. */
const MAX_SCRIPT_BYTES = 250_000;

describeInBrowser("the console's page", () => {
  let stack: Stack;
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    stack = await Stack.start({ gateway: true });
    browser = await ConsoleBrowser.open(stack.apiUrl());
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  it('leads from an empty stack to a served request in three clicks', async () => {
    const visit = await browser.signedIn(stack.token);
    const { page } = visit;
    await page.getByRole('link', { name: /in three clicks/ }).click();
    await page.waitForURL('**/first-run');
    await page.evaluate(
      "window.clicks = 0; addEventListener('click', (event) => { window.clicks += event.isTrusted ? 1 : 0; })",
    );
    await page.getByRole('button', { name: 'Create first' }).click();
    await page.getByRole('button', { name: 'Roll out' }).click();
    // The button is enabled once a deployment serves.
    await page.getByRole('button', { name: 'Send' }).click({ timeout: 60_000 });
    await page
      .getByRole('status')
      .filter({ hasText: /^Served by first-00001/ })
      .waitFor();
    expect(await page.getByRole('region', { name: 'Answer' }).innerText()).not.toBe('');
    expect(await page.evaluate('window.clicks')).toBe(3);
    expect(visit.takeFaults()).toEqual([]);
    await visit.close();
  });

  it('loads from its own origin alone, within its size limit, and nothing in it violates its policy', async () => {
    const visit = await browser.signedIn(stack.token, '/deployments');
    await visit.isDrawn();
    expect(visit.takeFaults()).toEqual([]);
    const scripts = visit.answers.filter((answer) => answer.request().resourceType() === 'script');
    const bodies = await Promise.all(scripts.map((answer) => answer.body()));
    expect(bodies.length).toBeGreaterThan(1);
    expect(bodies.reduce((sum, body) => sum + gzipSync(body).length, 0)).toBeLessThanOrEqual(MAX_SCRIPT_BYTES);
    for (const answer of visit.answers.filter((answer) => new URL(answer.url()).pathname.startsWith('/assets/')))
      expect(await answer.headerValue('cache-control')).toBe('public, max-age=31536000, immutable');

    const policy = (await visit.answers[0]!.headerValue('content-security-policy')) ?? '';
    expect(policy).toMatch(/default-src 'none'; script-src 'self'; /);
    // The control: a script that the policy forbids does not run, and this suite would have noticed it.
    await visit.page.evaluate(
      "document.body.append(Object.assign(document.createElement('script'), { text: 'window.ran = 1' }))",
    );
    expect(await visit.page.evaluate('window.ran')).toBeUndefined();
    expect(visit.takeFaults()).toEqual([expect.stringContaining('Content Security Policy')]);
    await visit.close();
  });

  it('shows why a token does not sign in, and follows the original link once one does', async () => {
    const visit = await browser.visit();
    const { page } = visit;
    await page.goto('/targets');
    await page.getByLabel('API token').fill(`slw_nobody0001_${'x'.repeat(43)}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').filter({ hasText: 'token' }).waitFor();
    expect(visit.takeFaults(/^401 .*\/console\/session$/)).toEqual([]);
    await visit.signIn(stack.token);
    await page.getByRole('heading', { level: 1, name: 'Targets' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/targets');
    await visit.close();
  });

  it('ends the session at the server on sign-out', async () => {
    const visit = await browser.signedIn(stack.token, '/deployments');
    const { page } = visit;
    const before = await page.context().cookies();
    expect(before).toEqual([expect.objectContaining({ httpOnly: true, sameSite: 'Lax' })]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API token').waitFor();
    const kept = { cookie: `${before[0]!.name}=${before[0]!.value}`, csrf: '' };
    expect(await codeOf(consoleAt(stack.apiUrl(), kept).whoAmI())).toBe('401 unauthenticated');
    await page.reload();
    await page.getByLabel('API token').waitFor();
    await visit.close();
  });

  it('says of an unknown address that there is no such screen, and offers a link', async () => {
    const visit = await browser.signedIn(stack.token, '/nowhere/at/all');
    await visit.page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await visit.page.getByRole('link', { name: 'Go to deployments' }).click();
    await visit.page.getByRole('heading', { level: 1, name: 'Deployments' }).waitFor();
    expect(visit.takeFaults()).toEqual([]);
    await visit.close();
  });

  it('can be navigated by the keyboard: with the palette, and with two letters', async () => {
    await stack.slipway().deployments.create({ name: 'by-palette' });
    const visit = await browser.signedIn(stack.token, '/deployments');
    const { keyboard } = visit.page;
    await keyboard.press('Control+k');
    await visit.page.getByRole('option', { name: 'by-palette' }).waitFor();
    await keyboard.type('by-pal');
    await keyboard.press('Enter');
    await visit.page.waitForURL('**/deployments/by-palette');
    await visit.isDrawn();
    await keyboard.press('g');
    await keyboard.press('y');
    await visit.page.waitForURL('**/system');
    expect(visit.takeFaults()).toEqual([]);
    await visit.close();
  });
});
