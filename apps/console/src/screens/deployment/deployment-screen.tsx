import { isLive, shownOperation } from '../../api/operation-state.js';
import { useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Undo2, Upload } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useDeploymentEvents } from '../../api/live-events.js';
import { useAddress } from '../../api/search.js';
import { useMay } from '../../api/who.js';
import { OperationControls } from '../../rollouts/operation-controls.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { ErrorNote } from '../../ui/error-note.js';
import { ScreenHead } from '../../ui/panel.js';
import { Tabs } from '../../ui/tabs.js';
import { AutopilotPanel } from './autopilot/autopilot-panel.js';
import { DeploymentHead } from './deployment-head.js';
import { useDeployment, useOperations } from './deployment-data.js';
import { EventsPanel } from './events-panel.js';
import { FailedStart } from './failed-start.js';
import { LogsDialog } from './logs-dialog.js';
import { MetricsPanel } from './metrics/metrics-panel.js';
import { OperationPanel } from './operation-panel.js';
import { PolicyPanel } from './policy/policy-panel.js';
import { renewalOf } from './renewal.js';
import { RevisionsPanel } from './revisions-panel.js';
import { RollbackDialog } from './rollout/rollback-dialog.js';
import { RolloutDialog } from './rollout/rollout-dialog.js';
import { DeploymentSettings } from './settings/deployment-settings.js';
import { TrafficPanel } from './traffic-panel.js';

type DialogRequest = { what: 'rollout'; ready?: object } | { what: 'rollback'; to: string };

/** Everything about one deployment on one page, except the view of the autopilot: no part waits for another. */
export function DeploymentScreen() {
  const { name } = useParams({ from: '/deployments/$name' });
  // Another deployment is another page: its dialogs must not keep the state of the previous one.
  return <Screen key={name} name={name} />;
}

function Screen({ name }: { name: string }) {
  const client = useQueryClient();
  const renew = useMemo(() => renewalOf(client, name), [client, name]);
  const live = useDeploymentEvents(name, renew);
  const deployment = useDeployment(name);
  const [opened, setOpened] = useState<DialogRequest>();
  const [{ logs, tab }, change] = useAddress();
  const isOverview = tab !== 'autopilot';
  const mayOperate = useMay('operator');
  const rollBackTo = (to: string) => setOpened({ what: 'rollback', to });

  if (deployment.error && !deployment.data)
    return (
      <>
        <ScreenHead title={name} />
        <ErrorNote error={deployment.error} onAgain={() => void deployment.refetch()} />
      </>
    );
  const overview = (
    <div className="grid min-h-0 grow gap-2 xl:grid-cols-[minmax(0,9fr)_minmax(0,11fr)_minmax(0,9fr)] xl:grid-rows-[auto_minmax(0,1fr)_minmax(0,1fr)]">
      <TrafficPanel name={name} className="xl:col-span-3" />
      <OperationPanel name={name} />
      <MetricsPanel name={name} className="xl:row-span-2" />
      <EventsPanel name={name} live={live} />
      <RevisionsPanel name={name} onRollBack={rollBackTo} />
      <PolicyPanel name={name} onRollOut={(ready) => setOpened({ what: 'rollout', ready })} />
    </div>
  );
  return (
    <div className={classes('flex flex-col', isOverview && 'xl:h-[calc(100dvh-2rem)] xl:min-h-[44rem]')}>
      <DeploymentHead
        name={name}
        live={live}
        actions={mayOperate && <DeploymentActions name={name} onOpen={setOpened} />}
      />
      {deployment.data && <FailedStart deployment={deployment.data} />}
      <Tabs
        isTall
        label="Views of the deployment"
        value={isOverview ? 'overview' : 'autopilot'}
        onChange={(value) => change({ tab: value === 'overview' ? undefined : value })}
        tabs={[
          { value: 'overview', label: 'Overview', content: overview },
          { value: 'autopilot', label: 'Autopilot', content: <AutopilotPanel name={name} /> },
        ]}
      />
      <Dialogs name={name} opened={opened} onClose={() => setOpened(undefined)} />
      {logs && mayOperate && <LogsDialog name={name} instance={logs} onClose={() => change({ logs: undefined })} />}
    </div>
  );
}

function DeploymentActions({ name, onOpen }: { name: string; onOpen: (opened: DialogRequest) => void }) {
  const { data: deployment } = useDeployment(name);
  const { data: operations } = useOperations(name);
  const operation = shownOperation(operations ?? []);
  // A bake only watches: a new change of traffic ends it.
  const live = operation && isLive(operation) && operation.kind !== 'bake' ? operation : undefined;
  return (
    <>
      <OperationControls operation={operation} />
      <DeploymentSettings name={name} />
      {deployment?.active_revision && (
        <Button icon={<Undo2 aria-hidden className="size-4" />} onClick={() => onOpen({ what: 'rollback', to: '' })}>
          Roll back
        </Button>
      )}
      <Button
        kind={live ? 'plain' : 'primary'}
        disabled={live !== undefined}
        title={live && `A ${live.kind} is in progress. Wait for it, or end it.`}
        icon={<Upload aria-hidden className="size-4" />}
        onClick={() => onOpen({ what: 'rollout' })}
      >
        Roll out
      </Button>
    </>
  );
}

function Dialogs({ name, opened, onClose }: { name: string; opened: DialogRequest | undefined; onClose: () => void }) {
  const { data: deployment } = useDeployment(name);
  if (!opened || !deployment) return null;
  if (opened.what === 'rollout')
    return <RolloutDialog deployment={deployment} ready={opened.ready} onClose={onClose} />;
  return <RollbackDialog name={name} to={opened.to} onClose={onClose} />;
}
