import { exactFigure, figureOfSlices, formatFigure, type Figure, type Unit } from './figure.js';
import { interleave, type Side, type Slices } from './measure.js';

/** One line of the table: ours beside the limit of the same run. Null where there is nothing beside it. */
export interface Finding {
  name: string;
  ours: Figure | null;
  limit: Figure | null;
  /** Ours to the limit, medians divided; its range is that of the rounds, each divided by itself. */
  ratio: Figure | null;
  notes: string;
}

/** Rates of two sides whose slices take turns. */
export async function compareSides(
  name: string,
  slices: Slices,
  sides: { ours: Side; limit: Side },
  notes: string,
): Promise<Finding> {
  const seen = await interleave(slices, sides);
  return compareRounds(name, '/s', seen, notes);
}

/** Of values that were taken in the same rounds. */
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

/** Of two figures that no rounds tie together, such as one and what is asked of it. */
export function compareFigures(name: string, ours: Figure, limit: Figure, notes: string): Finding {
  return { name, ours, limit, ratio: exactFigure('', ours.median / limit.median), notes };
}

/** A peer that is not here, or a part that this machine cannot run: it has its line, and the reason. */
export function skippedFinding(name: string, reason: string): Finding {
  return { name, ours: null, limit: null, ratio: null, notes: `skipped: ${reason}` };
}

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
