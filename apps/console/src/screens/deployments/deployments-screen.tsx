import { shownDeploymentState } from '@slipway/sdk';
import { Link, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { request } from 'request:createDeployment';
import { defineAction, type Action } from '../../actions/action.js';
import { useActions } from '../../actions/action-dialog.js';
import { slipway } from '../../api/client.js';
import type { Deployment } from '../../api/items.js';
import { usePagedList } from '../../api/paged-list.js';
import { useAddress } from '../../api/search.js';
import { useMay } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { EmptyState } from '../../ui/empty-state.js';
import { RowList } from '../../ui/row-list.js';
import { ScreenHead } from '../../ui/panel.js';
import { DeploymentFilters } from './deployment-filters.js';
import { DeploymentTable } from './deployment-table.js';
import { countStates, isDeploymentMatch, type ShownDeployment } from './filter.js';
import { CREATE_DEPLOYMENT } from './create-layout.js';

const createDeployment = (onCreated: (name: string) => void): Action =>
  defineAction<'createDeployment'>()({
    request,
    verb: 'Create',
    title: () => 'New deployment',
    description: 'A deployment serves a model under one name. Its first rollout defines what it runs.',
    layout: () => CREATE_DEPLOYMENT,
    cli: { words: 'deployments create', args: ['name'] },
    run: (_, body) => slipway.deployments.create(body),
    done: ({ name }) => `Deployment ${name} created. Create a rollout to serve requests.`,
    onDone: ({ name }) => onCreated(name),
  });

export function DeploymentsScreen() {
  const [{ q = '', state, label, environment }] = useAddress();
  const navigate = useNavigate();
  const { open, dialog } = useActions<undefined>(['deployments']);
  const create = createDeployment((name) => void navigate({ to: '/deployments/$name', params: { name } }));
  const mayCreate = useMay('operator');
  const asked = { ...(label && { label }), ...(environment && { environment }) };
  const list = usePagedList<Deployment>(['deployments', asked], (request) =>
    slipway.deployments.list({ ...asked, ...request }),
  );
  const rows = list.rows?.map((row): ShownDeployment => ({ ...row, state: shownDeploymentState(row) }));
  const isFiltered = Object.keys(asked).length > 0;
  const nothing = <EmptyState title="No deployments match the filters" command="slipway deployments list" />;
  return (
    <>
      <ScreenHead
        title="Deployments"
        actions={
          mayCreate && (
            <Button
              kind="primary"
              icon={<Plus aria-hidden className="size-4" />}
              onClick={() => open(create, undefined)}
            >
              Create deployment
            </Button>
          )
        }
      />
      <DeploymentFilters counts={countStates(rows ?? [])} />
      <RowList
        list={{ ...list, rows }}
        what="the deployments"
        empty={isFiltered ? nothing : <None mayCreate={mayCreate} />}
        beyond="Filter by label, or run slipway deployments list."
      >
        {(all) => {
          const shown = all.filter((row) => (!state || row.state === state) && isDeploymentMatch(row, q));
          return shown.length === 0 ? nothing : <DeploymentTable rows={shown} />;
        }}
      </RowList>
      {dialog}
    </>
  );
}

function None({ mayCreate }: { mayCreate: boolean }) {
  return (
    <EmptyState title="No deployments yet" command="slipway deployments create chat">
      {mayCreate && (
        <Link to="/first-run" className="underline">
          Send a first request in three clicks, with the built-in simulator
        </Link>
      )}
    </EmptyState>
  );
}
