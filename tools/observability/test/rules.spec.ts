import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { alerts, cases, nodeOutput, ROOT } from './rules.js';

it('each has a severity, a summary, what to do, and a section of docs/alerts.md, which has no others', () => {
  for (const { alert, labels, annotations } of alerts) {
    expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(?:critical|warning)$/)]);
    expect([alert, annotations.summary.length > 10, annotations.description.length > 40]).toEqual([alert, true, true]);
    expect(annotations.runbook_url).toBe(`docs/alerts.md#${alert.toLowerCase()}`);
  }
  const page = readFileSync(path.join(ROOT, 'docs/alerts.md'), 'utf8');
  const sections = [...page.matchAll(/^### (Slipway\w+)$/gm)].map(([, name]) => name);
  expect(sections.sort()).toEqual(alerts.map(({ alert }) => alert).sort());
});

it('each has a case', () => {
  expect(Object.keys(cases).sort()).toEqual(alerts.map(({ alert }) => alert).sort());
});

it('the committed files are those that the definitions make', () => {
  expect(nodeOutput('write.mjs', '--check')).toBe('');
});
