import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import type { Page, ViewportSize } from 'playwright-core';
import { childEnvironment } from '@slipway/platform-config/environment';
import { NEXT_FRAMES } from './console-layout.js';
import { ROOT } from '../harness/stack.js';

/**
 * Set by `npm run screenshots`. Screenshots show a new state of the console, and a
 * person checks them before they are committed.
 */
export const hasScreenshots = childEnvironment()['SLIPWAY_SCREENSHOTS'] === '1';
export const SCREENSHOTS = path.join(ROOT, 'docs/screenshots');

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const EIGHT_BIT_RGB = [8, 2, 0, 0, 0];

/**
 * Takes a screenshot of the page. Chromium filters its PNGs for photographs: without a filter,
 * screens of flat colours are a fifth smaller.
 */
export async function smallScreenshot(page: Page): Promise<Buffer> {
  const png = await page.screenshot();
  const blank = await page.context().newPage();
  const pixels = Buffer.from(
    (await blank.evaluate(`(async () => {
      const image = await createImageBitmap(await (await fetch('data:image/png;base64,${png.toString('base64')}')).blob());
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, image.width, image.height);
      return new Promise((resolve) => {
        const reader = new FileReader();
        reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(',') + 1));
        reader.readAsDataURL(new Blob([data]));
      });
    })()`)) as string,
    'base64',
  );
  await blank.close();
  const { width, height } = page.viewportSize()!;
  const rows = Buffer.alloc(height * (1 + 3 * width));
  for (let y = 0, to = 0; y < height; y += 1) {
    to += 1;
    for (let x = 0; x < width; x += 1, to += 3) pixels.copy(rows, to, 4 * (y * width + x), 4 * (y * width + x) + 3);
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set(EIGHT_BIT_RGB, 8);
  const body = deflateSync(rows, { level: 9, memLevel: 9 });
  return Buffer.concat([SIGNATURE, chunk('IHDR', head), chunk('IDAT', body), chunk('IEND', Buffer.alloc(0))]);
}

/** Keeps two pictures of a whole screen, in its own size and in another one. Their names are its address and their width. */
export async function keepPictures(page: Page, screen: string, other: ViewportSize): Promise<void> {
  const folder = path.join(SCREENSHOTS, 'all');
  mkdirSync(folder, { recursive: true });
  const name = screen.replaceAll('$', '').replace(/[^a-z-]+(?:tab=)?/g, '-');
  const own = page.viewportSize()!;
  await page.emulateMedia({ colorScheme: 'light' });
  for (const size of [own, other]) {
    await page.setViewportSize(size);
    await page.evaluate(NEXT_FRAMES);
    const file = path.join(folder, `${name}-${size.width}.jpg`);
    await page.screenshot({ path: file, type: 'jpeg', quality: 60, fullPage: true });
  }
  await page.setViewportSize(own);
  await page.evaluate(NEXT_FRAMES);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(data.length, 0);
  named.copy(framed, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}
