import type { Visit } from './console-visit.js';

/**
 * Returns the faults of the tables of a page, as a reader sees them: a table wider than its place, a text that is cut
 * off, and a word that is broken inside. A word may break after a hyphen, a slash, a colon, a dot or an underscore.
 */
export async function tableFaults({ page }: Visit): Promise<string[]> {
  return (await page.evaluate(`(() => {
    const faults = [];
    const isSeen = (one) => one.checkVisibility({ visibilityProperty: true }) && one.closest('.sr-only') === null;
    const nameOf = (one) => one.outerHTML.replace(/<svg.*?<\\/svg>/gs, '').slice(0, 160);
    for (const table of [...document.querySelectorAll('[role="main"] table, main table, [role="dialog"] table')].filter(isSeen)) {
      const box = table.parentElement;
      if (box.scrollWidth > box.clientWidth) faults.push('too wide, ' + box.scrollWidth + ' in ' + box.clientWidth + ' px: ' + nameOf(table));
      const texts = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        const holder = text.parentElement;
        if (!isSeen(holder) || text.data.trim() === '') continue;
        for (let one = holder; one !== box; one = one.parentElement) {
          const isCut = getComputedStyle(one).overflowX !== 'visible' && one.scrollWidth > one.clientWidth;
          if (isCut) faults.push('cut off: ' + nameOf(one));
        }
        for (const { index, 0: word } of text.data.matchAll(/[^\\s\\-\\/:._,]+[\\-\\/:._,]*/g)) {
          const range = document.createRange();
          range.setStart(text, index);
          range.setEnd(text, index + word.length);
          const lines = new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top)));
          if (lines.size > 1) faults.push('broken: ' + word);
        }
      }
    }
    return [...new Set(faults)].slice(0, 5);
  })()`)) as string[];
}

/** Records every text that the charts of a page draw, from its next load on. */
export async function recordCharts({ page }: Visit): Promise<void> {
  await page.addInitScript(`(() => {
    window.drawn = [];
    const draw = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
      const { width, actualBoundingBoxAscent: up, actualBoundingBoxDescent: down } = this.measureText(text);
      const { a, d, e, f } = this.getTransform();
      const [left, top] = [a * x + e, d * y + f];
      const start = this.textAlign === 'right' || this.textAlign === 'end' ? left - width : this.textAlign === 'center' ? left - width / 2 : left;
      window.drawn.push({ text, start, end: start + width, top: top - up, bottom: top + down, width: this.canvas.width, height: this.canvas.height });
      return draw.call(this, text, x, y, ...rest);
    };
  })()`);
}

/** Returns how many texts the charts have drawn, and those that are not whole inside of their picture. */
export async function drawnTexts({ page }: Visit): Promise<{ count: number; cut: unknown[] }> {
  return (await page.evaluate(`({
    count: window.drawn.length,
    cut: window.drawn.filter(({ start, end, top, bottom, width, height }) => start < -1 || end > width + 1 || top < -1 || bottom > height + 1),
  })`)) as { count: number; cut: unknown[] };
}

/**
 * Whether the failed or running step is whole inside of each part of the page that scrolls around it.
 * @param inWindow also inside of the window
 */
export async function isStepInView({ page }: Visit, inWindow: boolean): Promise<boolean> {
  return (await page.evaluate(`(() => {
    const step = document.querySelector('[aria-label="Steps"] [aria-current="step"]');
    const { top, bottom } = step.getBoundingClientRect();
    if (${inWindow} && (top < 0 || bottom > innerHeight)) return false;
    for (let one = step.parentElement; one; one = one.parentElement) {
      const all = one.getBoundingClientRect();
      if (/auto|scroll|hidden/.test(getComputedStyle(one).overflowY) && (top < all.top - 1 || bottom > all.bottom + 1)) return false;
    }
    return true;
  })()`)) as boolean;
}

/** Resolves when the page has drawn itself in a new size: tables decide in the next frame how they fit. */
export const NEXT_FRAMES = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(resolve))))`;
