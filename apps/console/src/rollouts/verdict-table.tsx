import { Chip } from '../ui/chip.js';
import { FittedTable } from '../ui/fitted-table.js';
import { metricText } from '../ui/text/number-text.js';
import { limitText, samplesText, type GateResult, type Judgement } from './verdicts.js';

const TITLES = ['Metric', 'Baseline', 'Candidate', 'Limit', 'Samples', 'Verdict'];

/** The verdicts of one step: each metric of both revisions next to its limit. */
export function VerdictTable({ judgement: { step, results } }: { judgement: Judgement }) {
  return (
    <FittedTable label={`Verdicts of ${step}`}>
      <table role="table" className="w-full border-collapse text-left text-sm">
        <caption className="sr-only">Verdicts of {step}</caption>
        <thead role="rowgroup" className="text-xs text-soft">
          <tr role="row">
            {TITLES.map((title) => (
              <th key={title} scope="col" role="columnheader" className="px-2 py-1 font-semibold whitespace-nowrap">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {results.map((result) => (
            <Row key={`${result.metric} ${result.stat} ${result.check}`} result={result} />
          ))}
        </tbody>
      </table>
    </FittedTable>
  );
}

function Row({ result }: { result: GateResult }) {
  const { metric, stat, check, baseline, candidate, verdict, dry_run } = result;
  const cells: [title: string, text: string][] = [
    ['Baseline', metricText(metric, baseline?.value)],
    ['Candidate', metricText(metric, candidate?.value)],
    ['Limit', limitText(result)],
    ['Samples', samplesText(result)],
  ];
  return (
    <tr role="row" className="border-t border-line">
      <th scope="row" role="rowheader" data-label="Metric" className="px-2 py-1 font-medium">
        {metric} {stat}
        {check === 'guard' && <span className="font-normal text-soft"> (guard)</span>}
        {dry_run && <span className="font-normal text-soft"> (dry run)</span>}
      </th>
      {cells.map(([title, text]) => (
        <td key={title} role="cell" data-label={title} className="px-2 py-1 whitespace-nowrap tabular-nums">
          {text}
        </td>
      ))}
      <td role="cell" data-label="Verdict" className="px-2 py-1">
        <Chip word={verdict} />
      </td>
    </tr>
  );
}
