import { formatFigure } from './figure.js';
import type { Finding } from './finding.js';

/** What a run found, as it is printed. */
export interface BenchReport {
  /** Whether nobody else used the machine before any of the parts, and after the last. */
  quiet: boolean;
  machine: { processors: number; node: string; platform: string };
  size: string;
  /** Each with what was the case just before its part began. */
  findings: (Finding & { quiet: boolean })[];
}

/** The findings as one Markdown table; `*` marks those of parts before which the machine was not quiet. */
export function formatReport({ quiet, machine, size, findings }: BenchReport): string {
  const rows = findings.map(({ name, ours, limit, ratio, notes, quiet: wasQuiet }) => {
    const cells = [wasQuiet ? name : `${name} *`, formatFigure(ours), formatFigure(limit), formatFigure(ratio), notes];
    return `| ${cells.join(' | ')} |`;
  });
  const found = quiet ? 'the machine was quiet' : 'NOT QUIET: others used the machine, above all where there is a *';
  return [
    `${size} run, ${machine.processors} processors, Node ${machine.node}, ${machine.platform}; ${found}. Medians (range of the slices).`,
    '',
    '| benchmark | ours | limit | ratio | notes |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
