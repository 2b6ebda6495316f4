import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { AxeResults } from 'axe-core';
import { ConsoleBrowser, describeInBrowser, type Visit } from './console-visit.js';
import { NEXT_FRAMES, tableFaults } from './console-layout.js';
import { fill } from './console-scene.js';
import { hasScreenshots, keepPictures } from './screenshots.js';
import { startLeakySupplier, type LeakySupplier } from '../harness/leaky-supplier.js';
import { ROOT, Stack, until } from '../harness/stack.js';

jest.setTimeout(180_000);

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The list of the console itself, so that no screen is forgotten. */
const SCREENS = [
  ...readFileSync(path.join(ROOT, 'apps/console/src/router.tsx'), 'utf8').matchAll(/screen\('\/([^']+)'/g),
].map(([, screen]) => screen!);
/** Views of a screen that a click shows. */
const TABS = ['deployments/$name?tab=autopilot', 'sandboxes?tab=references'];
const PHONE = { width: 390, height: 844 };

/** The elements that the keyboard must reach; one of a group that arrow keys move through is enough. */
const REACHABLE = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')].filter(
  (one) => !one.disabled && one.tabIndex >= 0 && one.checkVisibility({ visibilityProperty: true }) && one.closest('[inert], [aria-hidden="true"]') === null)`;

describeInBrowser('the console, for everyone', () => {
  let supplier: LeakySupplier;
  let stack: Stack;
  let browser: ConsoleBrowser;
  let visit: Visit;
  let parameters: Record<string, string>;

  beforeAll(async () => {
    supplier = await startLeakySupplier('zzsupplierzz');
    stack = await Stack.start({ gateway: true });
    parameters = await fill(stack, supplier);
    browser = await ConsoleBrowser.open(stack.apiUrl());
    visit = await browser.signedIn(stack.token);
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await supplier?.stop();
  });

  it('knows the screens of the console', () => {
    expect(SCREENS.length).toBeGreaterThan(15);
    expect(SCREENS).toEqual(expect.arrayContaining(['deployments/$name', 'system']));
  });

  it.each([...SCREENS, ...TABS])(
    '%s: no violation in either theme, no wider than a phone, and all of it reachable by the keyboard',
    async (screen) => {
      await visit.open(`/${screen.replace(/\$\w+/, parameters[screen.replace(/\?.*/, '')] ?? '')}`);
      if (hasScreenshots) await keepPictures(visit.page, screen, PHONE);
      for (const colorScheme of ['light', 'dark'] as const) {
        await visit.page.emulateMedia({ colorScheme });
        expect({ colorScheme, violations: await violations(visit) }).toEqual({ colorScheme, violations: [] });
      }
      expect(await unreached(visit)).toEqual([]);
      expect(await tableFaults(visit)).toEqual([]);
      const size = visit.page.viewportSize()!;
      await visit.page.setViewportSize(PHONE);
      await visit.page.evaluate(NEXT_FRAMES);
      expect(await tooWide(visit)).toEqual([]);
      expect(await tableFaults(visit)).toEqual([]);
      await visit.page.setViewportSize(size);
      expect(visit.takeFaults()).toEqual([]);
    },
  );

  it('names every window after its screen, and no screen writes an error or a warning into the console', async () => {
    const tour = await browser.signedIn(stack.token);
    const lines = tour.consoleLines();
    const titles: string[] = [];
    for (const screen of [...SCREENS, ...TABS, 'deployments/empty', 'nowhere']) {
      await tour.open(`/${screen.replace(/\$\w+/, parameters[screen.replace(/\?.*/, '')] ?? '')}`);
      const head = await tour.page.getByRole('main').getByRole('heading', { level: 1 }).first().innerText();
      await until(`${screen} has the title ${head}`, async () => (await tour.page.title()) === `${head} · Slipway`);
      if (SCREENS.includes(screen)) titles.push(head);
    }
    expect(new Set(titles).size).toBe(titles.length);
    expect(lines).toEqual([]);
    expect(tour.takeFaults()).toEqual([]);
    await tour.close();
  });

  it.each([
    ['deployments', 'Create deployment'],
    ['deployments/$name', 'Roll out'],
    ['deployments/$name', 'Roll back'],
    ['deployments/$name', 'Change policy'],
    ['deployments/$name', 'Edit'],
    ['deployments/$name', 'Set route'],
    ['deployments/$name', 'Restart'],
    ['deployments/$name', 'Delete'],
    ['plans/$id', 'Approve'],
    ['sandboxes', 'Create sandbox'],
    ['sandboxes?tab=references', 'Register sandbox'],
    ['model-apis', 'Create product'],
    ['access', 'Grant access'],
    ['tokens', 'Create token'],
    ['tenants', 'Create tenant'],
    ['webhooks', 'Create webhook'],
  ])('%s, %s: a dialog without a violation, no wider than a phone, which Escape closes', async (screen, name) => {
    await visit.open(`/${screen.replace(/\$\w+/, parameters[screen] ?? '')}`);
    const button = visit.page.getByRole('main').getByRole('button', { name, exact: true }).first();
    await button.focus();
    await visit.page.keyboard.press('Enter');
    const dialog = visit.page.getByRole('dialog');
    await dialog.waitFor();
    // With every optional field open.
    for (const add of await dialog.getByRole('button', { name: /^Add to/ }).all()) await add.click();
    for (const more of await dialog.locator('summary').all()) await more.click();
    for (const colorScheme of ['light', 'dark'] as const) {
      await visit.page.emulateMedia({ colorScheme });
      expect({ colorScheme, violations: await violations(visit) }).toEqual({ colorScheme, violations: [] });
    }
    const size = visit.page.viewportSize()!;
    await visit.page.setViewportSize(PHONE);
    expect(await tooWide(visit)).toEqual([]);
    expect(await cutOff(visit)).toEqual([]);
    await visit.page.setViewportSize(size);
    await visit.page.keyboard.press('Escape');
    await visit.page.getByRole('dialog').waitFor({ state: 'hidden' });
    // A keyboard user continues from the same element.
    await button.and(visit.page.locator(':focus')).waitFor();
    expect(visit.takeFaults()).toEqual([]);
  });
});

async function violations({ page }: Visit): Promise<string[]> {
  await page.evaluate(`window.axe ?? (() => { ${AXE} })()`);
  const found = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as AxeResults;
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 300)} ${node.failureSummary ?? ''}`),
  );
}

/** Presses Tab once for each element, and names the elements that never had the focus. */
async function unreached({ page }: Visit): Promise<string[]> {
  await page.evaluate(`document.activeElement?.blur();
    window.reached = new Set();
    document.addEventListener('focusin', (event) => reached.add(event.target))`);
  const count = Number(await page.evaluate(`${REACHABLE}.length`));
  for (let press = 0; press < count + 3; press += 1) await page.keyboard.press('Tab');
  return (await page.evaluate(`${REACHABLE}
    .filter((one) => !reached.has(one) && !(one.type === 'radio' && document.querySelector('input[name="' + one.name + '"]:focus')))
    .map((one) => one.outerHTML.slice(0, 200))`)) as string[];
}

/** Returns the elements that make the page itself scroll sideways, outermost first. */
async function tooWide({ page }: Visit): Promise<string[]> {
  return (await page.evaluate(`document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')]
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1).slice(0, 5)
    .map((one) => Math.round(one.getBoundingClientRect().right) + ' px: ' + one.outerHTML.slice(0, 200))`)) as string[];
}

/** Returns the parts of a dialog that are beyond its edge: a dialog scrolls down, never sideways. */
async function cutOff({ page }: Visit): Promise<string[]> {
  return (await page.evaluate(`[...document.querySelectorAll('[role="dialog"] *')]
    .filter((one) => one.getBoundingClientRect().right > document.querySelector('[role="dialog"]').getBoundingClientRect().right + 1).slice(0, 5)
    .map((one) => one.outerHTML.slice(0, 200))`)) as string[];
}
