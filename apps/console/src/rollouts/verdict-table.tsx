import { Chip } from '../ui/chip.js';
import { FittedTable, TitledTable, type TitledRow } from '../ui/fitted-table.js';
import { metricText } from '../ui/text/number-text.js';
import { limitText, samplesText, type GateResult, type Judgement } from './verdicts.js';

const TITLES = ['Metric', 'Baseline', 'Candidate', 'Limit', 'Samples', 'Verdict'];

/** The verdicts of one step: each metric of both revisions next to its limit. */
export function VerdictTable({ judgement: { step, results } }: { judgement: Judgement }) {
  const label = `Verdicts of ${step}`;
  return (
    <FittedTable label={label}>
      <TitledTable caption={label} titles={TITLES} rows={results.map(rowOf)} />
    </FittedTable>
  );
}

function rowOf(result: GateResult): TitledRow {
  const { metric, stat, check, baseline, candidate, verdict, dry_run } = result;
  const name = (
    <>
      {metric} {stat}
      {check === 'guard' && <span className="font-normal text-soft"> (guard)</span>}
      {dry_run && <span className="font-normal text-soft"> (dry run)</span>}
    </>
  );
  return {
    key: `${metric} ${stat} ${check}`,
    cells: [
      name,
      metricText(metric, baseline?.value),
      metricText(metric, candidate?.value),
      limitText(result),
      samplesText(result),
      <Chip key="verdict" word={verdict} />,
    ],
  };
}
