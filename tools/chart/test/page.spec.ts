import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { DISRUPTIONS, CAPACITY_REASONS, OBSERVATION_REASONS, FIXABLE_REASONS } from '@slipway/contracts';
import { parse } from 'yaml';
import { chartRules, ROOT } from '../src/chart.js';

const page = readFileSync(path.join(ROOT, 'docs/guides/kubernetes.md'), 'utf8');
/** From the first column of the table of reasons. */
const reasons = [...page.matchAll(/^\| ((?:`[a-z_]+`(?:, )?)+) \| [^|]+ \| [^|]+ \|$/gm)].flatMap(([, names]) =>
  [...names!.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name!),
);

it('the page shows the Role that the chart creates', () => {
  const [, text] = /^```yaml\n(rules:[^`]*)^```$/m.exec(page) ?? [];
  expect(parse(text ?? '').rules).toEqual(chartRules().map(({ when: _, ...rule }) => rule));
});

it('the page explains each reason that the product reports about a cluster, and no other', () => {
  expect(reasons.filter((reason) => !(OBSERVATION_REASONS as readonly string[]).includes(reason))).toEqual([]);
  const told = [...DISRUPTIONS, ...CAPACITY_REASONS, ...FIXABLE_REASONS, 'crash_loop', 'out_of_memory', 'probe_failed'];
  expect(told.filter((reason) => !reasons.includes(reason))).toEqual([]);
  expect(new Set(reasons).size).toBe(reasons.length);
});

it('the page describes the outcome of a wait as the product decides it', () => {
  const waits = (reason: string): string =>
    new RegExp(`^\\| [^|]*\`${reason}\`[^|]*\\|.*\\| (.*) \\|$`, 'm').exec(page)![1]!;
  for (const reason of FIXABLE_REASONS) expect([reason, waits(reason)]).toEqual([reason, 'a minute']);
  for (const reason of CAPACITY_REASONS) expect([reason, waits(reason)]).not.toEqual([reason, 'a minute']);
});

it('the page links only to existing pages', () => {
  for (const file of ['docs/guides/kubernetes.md', 'deploy/helm/slipway/README.md', 'deploy/kubernetes/README.md']) {
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    for (const [, link, anchor] of text.matchAll(/\]\(([^)#:]*)(?:#([^)]*))?\)/g)) {
      const target = link === '' ? path.join(ROOT, file) : path.join(ROOT, path.dirname(file), link!);
      expect([file, link, existsSync(target)]).toEqual([file, link, true]);
      if (anchor === undefined) continue;
      expect([file, link, anchorsOf(readFileSync(target, 'utf8'))]).toEqual([
        ...[file, link],
        expect.arrayContaining([anchor]),
      ]);
    }
  }
});

function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}
