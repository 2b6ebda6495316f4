import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { ConsoleBrowser, describeInBrowser, type Visit } from './console-visit.js';
import { person, serve } from './console-scene.js';
import { startLeakySupplier, type LeakySupplier } from '../harness/leaky-supplier.js';
import { isRefused } from '../harness/refusals.js';
import { Stack, until } from '../harness/stack.js';

jest.setTimeout(120_000);

const UPLOAD_BYTES = 16 * 2 ** 20;

describeInBrowser('complete workflows in the console', () => {
  let supplier: LeakySupplier;
  let stack: Stack;
  let browser: ConsoleBrowser;
  let visit: Visit;

  beforeAll(async () => {
    supplier = await startLeakySupplier('zzsupplierzz');
    stack = await Stack.start({ gateway: true });
    await serve(stack, 'chat', { ttft_ms: 300, itl_ms: 200 });
    browser = await ConsoleBrowser.open(stack.apiUrl());
    visit = await browser.signedIn(stack.token);
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await supplier?.stop();
  });

  it('the playground shows an answer as it arrives, who gave it, and how fast', async () => {
    const { page } = visit;
    await visit.open('/playground?model=chat');
    await page.getByLabel('Session key').fill('one-session');
    await page.getByLabel('Message', { exact: true }).fill('Tell me of canaries.');
    await page.getByRole('button', { name: 'Send' }).click();
    const answer = page.getByRole('article');
    // Not only at its end: it is visible while it grows.
    await answer.getByText('streaming').waitFor();
    await answer.getByText('done').waitFor();
    await answer.getByRole('link', { name: 'chat-00001' }).waitFor();
    // At least the time of the engine; a busy machine adds to it.
    expect(await fact(answer, 'TTFT')).toMatch(/^([3-9]\d\d ms|\d+ s)$/);
    expect(Number.parseFloat((await fact(answer, 'Tokens/s')).replace('about ', ''))).toBeGreaterThan(0);
    const passport = await fact(answer, 'Passport');
    await until(
      'the passport is recorded',
      async () => !(await isRefused(stack.slipway().contextPassports.get(passport), 'context_passport_not_found')),
    );
    await page.getByRole('heading', { name: /passport/i }).waitFor();
    expect(visit.takeFaults()).toEqual([]);
  });

  it('a file upload shows its progress, and the received file equals the sent one', async () => {
    const { page } = visit;
    const bytes = randomBytes(UPLOAD_BYTES);
    const file = path.join(stack.home, 'weights.bin');
    await writeFile(file, bytes);
    await visit.open('/sandboxes');
    await page.getByRole('button', { name: 'Create sandbox' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.waitForURL(/\/sandboxes\/sbx_/);
    // A connection that is slow enough to make the progress visible.
    const session = await page.context().newCDPSession(page);
    const line = { offline: false, latency: 0, downloadThroughput: -1 };
    await session.send('Network.emulateNetworkConditions', { ...line, uploadThroughput: UPLOAD_BYTES / 4 });
    await page.getByLabel('Files to upload').setInputFiles(file);
    const progress = page.getByRole('progressbar', { name: 'Upload of weights.bin' });
    await until('a part of it is sent', async () => {
      const sent = Number(await progress.getAttribute('value', { timeout: 10_000 }));
      return sent > 0 && sent < UPLOAD_BYTES;
    });
    const upload = page.getByRole('list', { name: 'Uploads' }).getByRole('listitem');
    await upload.getByText('done').waitFor({ timeout: 30_000 });
    await page.getByRole('link', { name: 'Download weights.bin' }).waitFor();
    const sandbox = new URL(page.url()).pathname.split('/').at(-1)!;
    const { data } = await stack.slipway().sandboxes.files.list(sandbox);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(data).toEqual([expect.objectContaining({ path: 'weights.bin', size_bytes: UPLOAD_BYTES, sha256 })]);
    await session.detach();
    expect(visit.takeFaults()).toEqual([]);
  });

  it('a list is sorted by a column once it is complete; before that, it is read from either end', async () => {
    const names = Array.from({ length: 101 }, (_, n) => `sorted-${String((n * 37) % 101).padStart(3, '0')}`);
    for (const name of names) await stack.slipway().deployments.create({ name, labels: { sorted: 'yes' } });
    const { page } = visit;
    await visit.open('/deployments?label=sorted%3Dyes');
    const head = page.getByRole('columnheader', { name: 'Name' });
    await page.getByText('Load all rows to sort them.').waitFor();
    expect(await head.getByRole('button').count()).toBe(0);
    const first = page
      .getByRole('main')
      .getByRole('link', { name: /^sorted-/ })
      .first();
    for (const [order, name] of [
      ['oldest', names[0]!],
      ['newest', names.at(-1)!],
    ] as const) {
      await page.getByRole('button', { name: `Show ${order} first` }).click();
      await first.and(page.getByRole('link', { name, exact: true })).waitFor();
    }
    await page.getByRole('button', { name: 'Load more' }).click();
    await head.getByRole('button').click();
    await page
      .getByRole('columnheader', { name: 'Name', includeHidden: false })
      .and(page.locator('[aria-sort]'))
      .waitFor();
    const shown = await page
      .getByRole('main')
      .getByRole('link', { name: /^sorted-/ })
      .allInnerTexts();
    expect(shown).toEqual([...names].sort());
    // None of them has a revision: the state is not a creation that never ends.
    expect(await page.getByRole('group', { name: 'State' }).innerText()).toMatch(/^empty\s*101$/);
    expect(visit.takeFaults()).toEqual([]);
  });

  it('a plan waits in the inbox, shows what is dangerous in it, and leaves the inbox with its approval', async () => {
    const [alice, bob] = [await person(stack, 'alice', 'operator'), await person(stack, 'bob', 'operator')];
    await stack
      .as(alice)
      .autopilot.plans.create({
        deployment: 'chat',
        summary: 'Two instances',
        changes: [{ op: 'replace', path: '/scaling/min_replicas', from: 1, value: 2 }],
        rollout: { spec_patch: { scaling: { min_replicas: 2 } }, strategy: { type: 'immediate' } },
      });
    const his = await browser.signedIn(bob, '/deployments');
    const { page } = his;
    const menu = page.getByRole('navigation', { name: 'Pages' });
    const inbox = page.getByRole('region', { name: 'Inbox', exact: true });
    const dialog = page.getByRole('dialog');
    await menu.getByRole('link', { name: /^Plans.*1 waiting for approval$/ }).click();
    await inbox.getByRole('row').filter({ hasText: 'alice' }).filter({ hasText: 'no gate' }).waitFor();
    await inbox.getByRole('link', { name: 'Two instances' }).click();
    await page.getByRole('button', { name: 'Approve' }).click();
    await dialog.getByText('All traffic moves at once, and no gate judges the new revision.').waitFor();
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await menu.getByRole('link', { name: 'Plans', exact: true }).click();
    await inbox.getByText('No plans wait for approval.').waitFor();
    expect(his.takeFaults()).toEqual([]);
    await his.close();
  });

  it('a model API gets from nothing to its first answer on one page', async () => {
    const { page } = visit;
    const dialog = page.getByRole('dialog');
    await visit.open('/model-apis');
    await page.getByRole('button', { name: 'Create product' }).first().click();
    await dialog.getByLabel('Slug').fill('acme/chat');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Bind supplier' }).click();
    await dialog.getByLabel('Supplier', { exact: true }).fill('zzsupplierzz');
    await dialog.getByLabel('Base URL').fill(supplier.baseUrl);
    await dialog.getByLabel('Model', { exact: true }).fill(supplier.model);
    await dialog.getByLabel('Credential').fill(supplier.credential);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Qualify' }).click();
    await page.getByRole('region', { name: 'Checks of the last qualification' }).waitFor({ timeout: 30_000 });
    await page.getByRole('button', { name: 'Publish' }).click();
    await dialog.getByRole('button', { name: 'Preview' }).click();
    await dialog.getByText(/would/i).first().waitFor();
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Clients are served.').waitFor();
    const { data } = await stack.slipway().modelApiCatalog.list();
    expect(data).toEqual([expect.objectContaining({ slug: 'acme/chat' })]);

    await visit.open('/playground?model=acme%2Fchat');
    // The gateway has it in a moment, and the screen polls by itself.
    await page.getByText('This model is not served now.').waitFor({ state: 'hidden', timeout: 40_000 });
    await page.getByLabel('Message', { exact: true }).fill('Are you ready?');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('article').getByText('ready', { exact: true }).waitFor();
    expect(visit.takeFaults()).toEqual([]);
  });
});

/** Returns the description of a term. */
async function fact(within: ReturnType<Visit['page']['getByRole']>, term: string): Promise<string> {
  const pair = within.locator('div').filter({ has: within.page().getByRole('term').filter({ hasText: term }) });
  return (await pair.last().getByRole('definition').innerText()).trim();
}
