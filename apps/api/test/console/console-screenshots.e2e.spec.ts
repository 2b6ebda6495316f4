import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { ConsoleBrowser, describeInBrowser, type Visit } from './console-visit.js';
import { serve, sim } from './console-scene.js';
import { Load } from '@slipway/platform-testing/load';
import { hasScreenshots, SCREENSHOTS, smallScreenshot } from './screenshots.js';
import { Stack, until } from '../harness/stack.js';

jest.setTimeout(300_000);

/** The repository keeps every version of these files. The largest one has about 204 kB. */
const MAX_BYTES = 220_000;
const THEMES = ['light', 'dark'] as const;
const SCREENS = {
  deployment: '/deployments/chat?range=5m',
  deployments: '/deployments',
  playground: '/playground?model=chat',
  system: '/system',
};
const SAMPLES = 150;
const GATE = {
  metrics: [
    { name: 'error_rate', check: 'threshold', threshold: 0.02, min_samples: SAMPLES },
    { name: 'ttft_ms', stat: 'p95', check: 'regression', max_regression_percent: 20, min_samples: SAMPLES },
  ],
};

describeInBrowser('screenshots of the console', () => {
  let stack: Stack;
  let browser: ConsoleBrowser;
  let visit: Visit;
  let load: Load;

  beforeAll(async () => {
    if (!hasScreenshots) return;
    mkdirSync(SCREENSHOTS, { recursive: true });
    stack = await Stack.start({ gateway: true });
    await serve(stack, 'chat', { ttft_ms: 180, itl_ms: 8 });
    load = new Load(stack.gatewayUrl, stack.token, 'chat', 12, { isRandom: true });
    for (const name of ['summaries', 'translate']) await serve(stack, name);
    await stack.slipway().deployments.create({ name: 'search', description: 'Not rolled out yet' });
    await stack.slipway().deployments.policy.set('chat', { mode: 'recommend' });
    browser = await ConsoleBrowser.open(stack.apiUrl());
    visit = await browser.signedIn(stack.token);
  });
  afterAll(async () => {
    await browser?.close();
    await load?.stop();
    await stack?.stop();
  });

  const answered = async (revision: string) => {
    const { data } = await stack.slipway().deployments.metrics('chat', { revision });
    return data[0]?.total.attempts.ok ?? 0;
  };

  (hasScreenshots ? it : it.skip)('show a canary in its first step, and the screens around it', async () => {
    const { page } = visit;
    const steps = [25, 100].map((traffic_percent) => ({ traffic_percent, soak_seconds: 600 }));
    const spec = sim('chat-two', { ttft_ms: 170, itl_ms: 8 });
    await stack.rollOut('chat', { spec, strategy: { type: 'canary', steps }, analysis: GATE });
    await until('the candidate has answered enough', async () => (await answered('chat-00002')) > SAMPLES, 180_000);
    for (const [name, address] of Object.entries(SCREENS)) {
      await visit.open(address);
      if (name === 'playground') await converse(visit);
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme });
        const file = path.join(SCREENSHOTS, `${name}-${theme}.png`);
        const image = await smallScreenshot(page);
        expect(image.length).toBeLessThanOrEqual(MAX_BYTES);
        writeFileSync(file, image);
      }
    }
  });
});

async function converse({ page }: Visit): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill('What is a canary rollout?');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('article').getByText('done').waitFor();
}
