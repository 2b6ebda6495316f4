import { useState } from 'react';
import { useMay } from '../../../api/who.js';
import { metricName } from '../../../rollouts/prediction-text.js';
import { Button } from '../../../ui/button.js';
import { Chip } from '../../../ui/chip.js';
import { CopyButton } from '../../../ui/copy.js';
import { EmptyState } from '../../../ui/empty-state.js';
import { Facts } from '../../../ui/facts.js';
import { Loaded } from '../../../ui/loaded.js';
import { Panel } from '../../../ui/panel.js';
import { hourlyText } from '../../../ui/text/number-text.js';
import { shellLine } from '../../../ui/text/shell-line.js';
import { useDiagnosis, usePolicy, type Diagnosis } from '../deployment-data.js';
import { PolicyDialog } from '../policy/policy-dialog.js';
import { DecisionPanel } from './decision.js';
import { workloadRows } from './diagnosis-text.js';
import { SloPanel } from './slo-panel.js';

/** The diagnosis of a deployment and the last decision of the autopilot. Without a policy it does nothing. */
export function AutopilotPanel({ name }: { name: string }) {
  const policy = usePolicy(name);
  return (
    <Loaded query={policy} what="the policy">
      {(data) => (data ? <DiagnosisPanels name={name} /> : <NoPolicy name={name} />)}
    </Loaded>
  );
}

function NoPolicy({ name }: { name: string }) {
  const mayChange = useMay('admin');
  const [isSetting, setSetting] = useState(false);
  return (
    <EmptyState title="No policy yet" command={shellLine('slipway', 'policies', 'set', name, '--file', 'policy.yaml')}>
      <p className="max-w-prose text-sm text-soft">
        With a policy, this page shows why SLOs are met or missed, what the autopilot has decided, and what it costs.
      </p>
      {mayChange && (
        <Button kind="primary" onClick={() => setSetting(true)}>
          Set policy
        </Button>
      )}
      {isSetting && <PolicyDialog name={name} policy={null} onClose={() => setSetting(false)} />}
    </EmptyState>
  );
}

function DiagnosisPanels({ name }: { name: string }) {
  const diagnosis = useDiagnosis(name);
  return (
    <Loaded query={diagnosis} what="the diagnosis">
      {(data) => (data ? <Diagnosed name={name} diagnosis={data} /> : <NoPolicy name={name} />)}
    </Loaded>
  );
}

function Diagnosed({ name, diagnosis }: { name: string; diagnosis: Diagnosis }) {
  const { slos, workload, cost } = diagnosis;
  return (
    <div className="grid gap-3 lg:grid-cols-3">
      <div className="min-w-0 space-y-3 lg:col-span-2">
        <DecisionPanel diagnosis={diagnosis} />
        {slos.map((slo) => (
          <SloPanel key={`${metricName(slo)} ${slo.threshold}`} slo={slo} workload={workload} />
        ))}
        {slos.length === 0 && <EmptyState title="The policy has no SLOs" command={sloCommand(name)} />}
      </div>
      <div className="min-w-0 space-y-3">
        <Panel title="Workload" actions={<CommandCopy name={name} />}>
          <WorkloadTable workload={workload} />
        </Panel>
        <Panel title="Cost">
          <Facts
            of={{ now: cost.now ? hourlyText(cost.now) : 'no price', devices: cost.devices, note: noteOf(cost) }}
          />
        </Panel>
      </div>
    </div>
  );
}

/** Why there is no price. */
function noteOf({ now, devices }: Diagnosis['cost']): string | undefined {
  if (now) return undefined;
  return devices === 0 ? 'The instances use no devices.' : 'The operator has set no price for these devices.';
}

const sloCommand = (name: string): string =>
  shellLine(
    ...['slipway', 'policies', 'set', name, '--slos'],
    JSON.stringify([{ metric: 'ttft_ms', stat: 'p95', threshold: 500 }]),
  );

function CommandCopy({ name }: { name: string }) {
  return (
    <CopyButton text={shellLine('slipway', 'autopilot', 'diagnose', name)} label="Copy as CLI">
      CLI
    </CopyButton>
  );
}

function WorkloadTable({ workload }: { workload: Diagnosis['workload'] }) {
  return (
    <table className="w-full border-collapse text-left text-sm">
      <caption className="sr-only">Declared and observed workload</caption>
      <thead className="text-xs text-soft">
        <tr>
          {['Measure', 'Declared', 'Observed'].map((title) => (
            <th key={title} scope="col" className="py-1 pr-3 font-semibold">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {workloadRows(workload).map(({ name, declared, observed, isMoved }) => (
          <tr key={name} className="border-t border-line">
            <th scope="row" className="py-1 pr-3 font-normal text-soft">
              {name}
            </th>
            <td className="py-1 pr-3 tabular-nums">{declared}</td>
            <td className="py-1 tabular-nums">
              {observed} {isMoved && <Chip word="differs" tone="warn" />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
