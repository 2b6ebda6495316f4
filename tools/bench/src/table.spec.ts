import { expect, it } from '@jest/globals';
import { exactly, figure, ofEvents, shown } from './figure.js';
import { against, skipped } from './finding.js';
import { table, type Report } from './table.js';

it('shows a value with its range, or what one event in a hundred exceeded', () => {
  expect(shown(figure('/s', [170.4, 188.2, 201]))).toBe('188/s (170–201)');
  expect(shown(figure('', [0.25, 0.3, 0.27]))).toBe('0.27 (0.25–0.30)');
  expect(shown(exactly('MB', 158.04))).toBe('158 MB');
  expect(shown(exactly('ms', 5.12))).toBe('5.1 ms');
  expect(shown(ofEvents('ms', [1, 2, 3]))).toBe('2.0 ms (p99 3.0)');
  expect(shown(null)).toBe('-');
});

const report: Report = {
  quiet: true,
  machine: { processors: 2, node: 'v20.0.0', platform: 'linux x64' },
  size: 'full',
  findings: [{ ...against('growth', exactly('/s', 45), exactly('/s', 50), 'why'), quiet: true }],
};

it('prints a row for each finding, and one for what was skipped', () => {
  const findings = [...report.findings, { ...skipped('nginx', 'not here'), quiet: true }];
  const lines = table({ ...report, findings }).split('\n');
  expect(lines[0]).toContain('full run, 2 processors, Node v20.0.0, linux x64; the machine was quiet.');
  expect(lines.slice(-3)).toEqual([
    '| growth | 45.0/s | 50.0/s | 0.90 | why |',
    '| nginx | - | - | - | skipped: not here |',
    '',
  ]);
});

it('says so where the machine was not quiet, and which rows that is', () => {
  const [quiet] = report.findings;
  const text = table({ ...report, quiet: false, findings: [quiet!, { ...quiet!, name: 'beside', quiet: false }] });
  expect(text).toContain('NOT QUIET');
  expect(text).toContain('| growth | 45.0/s');
  expect(text).toContain('| beside * | 45.0/s');
});
