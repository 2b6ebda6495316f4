import { expect, it } from '@jest/globals';
import { exactFigure, figureOfSlices, figureOfEvents, formatFigure } from './figure.js';
import { compareFigures, skippedFinding } from './finding.js';
import { formatReport, type BenchReport } from './finding.js';

it('a figure shows its range, or the 99th percentile of events', () => {
  expect(formatFigure(figureOfSlices('/s', [170.4, 188.2, 201]))).toBe('188/s (170–201)');
  expect(formatFigure(figureOfSlices('', [0.25, 0.3, 0.27]))).toBe('0.27 (0.25–0.30)');
  expect(formatFigure(exactFigure('MB', 158.04))).toBe('158 MB');
  expect(formatFigure(exactFigure('ms', 5.12))).toBe('5.1 ms');
  expect(formatFigure(figureOfEvents('ms', [1, 2, 3]))).toBe('2.0 ms (p99 3.0)');
  expect(formatFigure(null)).toBe('-');
});

const report: BenchReport = {
  quiet: true,
  machine: { processors: 2, node: 'v20.0.0', platform: 'linux x64' },
  size: 'full',
  findings: [{ ...compareFigures('growth', exactFigure('/s', 45), exactFigure('/s', 50), 'why'), quiet: true }],
};

it('a report has a row for each finding, and one for each skipped part', () => {
  const findings = [...report.findings, { ...skippedFinding('nginx', 'not here'), quiet: true }];
  const lines = formatReport({ ...report, findings }).split('\n');
  expect(lines[0]).toContain('full run, 2 processors, Node v20.0.0, linux x64; the machine was quiet.');
  expect(lines.slice(-3)).toEqual([
    '| growth | 45.0/s | 50.0/s | 0.90 | why |',
    '| nginx | - | - | - | skipped: not here |',
    '',
  ]);
});

it('a report marks the rows that were measured while the machine was not quiet', () => {
  const [quiet] = report.findings;
  const text = formatReport({
    ...report,
    quiet: false,
    findings: [quiet!, { ...quiet!, name: 'beside', quiet: false }],
  });
  expect(text).toContain('NOT QUIET');
  expect(text).toContain('| growth | 45.0/s');
  expect(text).toContain('| beside * | 45.0/s');
});
