import { exactFigure, figureOfSlices, formatFigure, type Figure, type Unit } from './figure.js';
import { interleave, type Side, type Slices } from './measure.js';

/**
 * One line of the table: our figure and the limit from the same run. The limit is null if there is nothing to compare
 * with.
 */
export interface Finding {
  name: string;
  ours: Figure | null;
  limit: Figure | null;
  /** Our median divided by the median of the limit. Its range is that of the rounds, each divided separately. */
  ratio: Figure | null;
  notes: string;
}

/** Compares the rates of two sides whose slices alternate. */
export async function compareSides(
  name: string,
  slices: Slices,
  sides: { ours: Side; limit: Side },
  notes: string,
): Promise<Finding> {
  const seen = await interleave(slices, sides);
  return compareRounds(name, '/s', seen, notes);
}

/** Compares values that were measured in the same rounds. */
export function compareRounds(
  name: string,
  unit: Unit,
  seen: { ours: readonly number[]; limit: readonly number[] },
  notes: string,
): Finding {
  const ours = figureOfSlices(unit, seen.ours);
  const limit = figureOfSlices(unit, seen.limit);
  const rounds = figureOfSlices(
    '',
    seen.ours.map((value, round) => value / (seen.limit[round] as number)),
  );
  return { name, ours, limit, ratio: { ...rounds, median: ours.median / limit.median }, notes };
}

/** Compares two figures that have no rounds in common, such as a measured value and a required one. */
export function compareFigures(name: string, ours: Figure, limit: Figure, notes: string): Finding {
  return { name, ours, limit, ratio: exactFigure('', ours.median / limit.median), notes };
}

/** The line of a peer that is not installed, or of a part that this machine cannot run, with the reason. */
export function skippedFinding(name: string, reason: string): Finding {
  return { name, ours: null, limit: null, ratio: null, notes: `skipped: ${reason}` };
}

/** The findings of a run, as printed. */
export interface BenchReport {
  /** Whether no other program used the machine before any of the parts and after the last one. */
  quiet: boolean;
  machine: { processors: number; node: string; platform: string };
  size: string;
  /** Each with the state of the machine just before its part began. */
  findings: (Finding & { quiet: boolean })[];
}

/** Formats the findings as one Markdown table; `*` marks the parts before which the machine was not quiet. */
export function formatReport({ quiet, machine, size, findings }: BenchReport): string {
  const rows = findings.map(({ name, ours, limit, ratio, notes, quiet: wasQuiet }) => {
    const cells = [wasQuiet ? name : `${name} *`, formatFigure(ours), formatFigure(limit), formatFigure(ratio), notes];
    return `| ${cells.join(' | ')} |`;
  });
  const found = quiet
    ? 'the machine was quiet'
    : 'NOT QUIET: other programs used the machine, especially during rows with a *';
  return [
    `${size} run, ${machine.processors} processors, Node ${machine.node}, ${machine.platform}; ${found}. Medians (range of the slices).`,
    '',
    '| benchmark | ours | limit | ratio | notes |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
