import { Plus, Trash2 } from 'lucide-react';
import { Button } from '../../ui/button.js';
import { CheckField, SelectField, TextField } from '../../ui/field.js';
import {
  GATE_METRICS,
  GATE_STATS,
  hasSteps,
  STRATEGIES,
  type MetricRow,
  type RolloutForm,
  type StepRow,
} from './rollout-form.js';

const MOST_STEPS = 20;
const MOST_METRICS = 20;

interface StrategyFieldsProps {
  form: RolloutForm;
  onChange: (changed: Partial<RolloutForm>) => void;
}

/** How traffic comes to it, and what stops it on the way. */
export function StrategyFields({ form, onChange }: StrategyFieldsProps) {
  return (
    <fieldset className="space-y-3">
      <legend className="text-sm font-semibold">How it gets its traffic</legend>
      <SelectField
        label="strategy.type"
        value={form.strategy}
        onChange={(event) => onChange({ strategy: event.target.value })}
      >
        {STRATEGIES.map((one) => (
          <option key={one} value={one}>
            {one.replaceAll('_', ' ')}
          </option>
        ))}
      </SelectField>
      {form.strategy === 'canary' && <Steps rows={form.steps} onChange={(steps) => onChange({ steps })} />}
      {hasSteps(form.strategy) && <Metrics rows={form.metrics} onChange={(metrics) => onChange({ metrics })} />}
    </fieldset>
  );
}

interface RowsProps<Row> {
  rows: Row[];
  onChange: (rows: Row[]) => void;
}

const withRow = <Row,>(rows: Row[], index: number, changed: Partial<Row>): Row[] =>
  rows.map((row, at) => (at === index ? { ...row, ...changed } : row));

function Steps({ rows, onChange }: RowsProps<StepRow>) {
  return (
    <div className="space-y-2">
      <h3 className="text-sm font-medium">Steps: each more than the last, the last 100 %</h3>
      {rows.map((row, index) => (
        <div
          key={index}
          role="group"
          aria-label={`Step ${index + 1}`}
          className="grid grid-cols-[1fr_1fr_auto_auto] items-end gap-2"
        >
          <TextField
            label={`Traffic of step ${index + 1}, %`}
            inputMode="numeric"
            value={row.trafficPercent}
            onChange={(event) => onChange(withRow(rows, index, { trafficPercent: event.target.value }))}
          />
          <TextField
            label="Soak, s"
            inputMode="numeric"
            value={row.soakSeconds}
            onChange={(event) => onChange(withRow(rows, index, { soakSeconds: event.target.value }))}
          />
          <CheckField
            label="Ask me"
            checked={row.isApproved}
            onChange={(event) => onChange(withRow(rows, index, { isApproved: event.target.checked }))}
          />
          <RemoveButton
            label={`Remove step ${index + 1}`}
            onClick={() => onChange(rows.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <AddButton
        isFull={rows.length >= MOST_STEPS}
        onClick={() => onChange([...rows, { trafficPercent: '100', soakSeconds: '60', isApproved: false }])}
      >
        Add a step
      </AddButton>
    </div>
  );
}

function Metrics({ rows, onChange }: RowsProps<MetricRow>) {
  return (
    <div className="space-y-2">
      <h3 className="text-sm font-medium">Gate: what must hold at the end of each soak</h3>
      {rows.map((row, index) => (
        <div
          key={index}
          role="group"
          aria-label={`Measure ${index + 1}`}
          className="grid grid-cols-2 items-end gap-2 sm:grid-cols-[2fr_1fr_1fr_1fr_1fr_auto]"
        >
          <SelectField
            label="Measure"
            value={row.name}
            onChange={(event) => onChange(withRow(rows, index, { name: event.target.value, stat: '' }))}
          >
            {GATE_METRICS.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </SelectField>
          <SelectField
            label="Statistic"
            value={row.stat}
            onChange={(event) => onChange(withRow(rows, index, { stat: event.target.value }))}
          >
            {GATE_STATS.map((stat) => (
              <option key={stat} value={stat}>
                {stat || 'its own'}
              </option>
            ))}
          </SelectField>
          <SelectField
            label="Check"
            value={row.check}
            onChange={(event) => onChange(withRow(rows, index, { check: event.target.value }))}
          >
            <option value="threshold">threshold</option>
            <option value="regression">regression</option>
          </SelectField>
          <TextField
            label={row.check === 'threshold' ? 'Threshold' : 'Worse by, %'}
            inputMode="decimal"
            value={row.limit}
            onChange={(event) => onChange(withRow(rows, index, { limit: event.target.value }))}
          />
          <TextField
            label="Samples"
            placeholder="50"
            inputMode="numeric"
            value={row.minSamples}
            onChange={(event) => onChange(withRow(rows, index, { minSamples: event.target.value }))}
          />
          <RemoveButton
            label={`Remove measure ${index + 1}`}
            onClick={() => onChange(rows.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <AddButton
        isFull={rows.length >= MOST_METRICS}
        onClick={() =>
          onChange([...rows, { name: 'error_rate', stat: '', check: 'threshold', limit: '0.02', minSamples: '' }])
        }
      >
        Add a measure
      </AddButton>
    </div>
  );
}

const RemoveButton = ({ label, onClick }: { label: string; onClick: () => void }) => (
  <Button kind="quiet" aria-label={label} icon={<Trash2 aria-hidden className="size-4" />} onClick={onClick} />
);

const AddButton = ({ isFull, onClick, children }: { isFull: boolean; onClick: () => void; children: string }) => (
  <Button isSmall disabled={isFull} icon={<Plus aria-hidden className="size-4" />} onClick={onClick}>
    {children}
  </Button>
);
