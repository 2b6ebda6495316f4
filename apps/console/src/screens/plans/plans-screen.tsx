import type { OptionsOf } from '@slipway/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { slipway } from '../../api/client.js';
import type { Plan } from '../../api/items.js';
import { usePagedList } from '../../api/paged-list.js';
import { waitingCount, waitingPlansQuery } from '../../api/plans.js';
import { choicesOf, useAddress } from '../../api/search.js';
import { Button } from '../../ui/button.js';
import { EmptyState } from '../../ui/empty-state.js';
import { ChoiceFilter, TextFilter } from '../../ui/filters.js';
import { Loaded } from '../../ui/loaded.js';
import { Panel, ScreenHead } from '../../ui/panel.js';
import { RowList } from '../../ui/row-list.js';
import { PlanTable } from './plan-table.js';

const STATES = choicesOf<'listAutopilotPlans', 'state'>({
  pending: true,
  approved: true,
  rejected: true,
  expired: true,
  superseded: true,
});

type Filter = Pick<OptionsOf<'listAutopilotPlans'>, 'state' | 'deployment'>;

/** The plans of all deployments, those that wait for approval first. */
export function PlansScreen() {
  return (
    <>
      <ScreenHead
        title="Plans"
        actions={
          <Link to="/plans/calibration" className="text-sm underline">
            Calibration
          </Link>
        }
      />
      <div className="space-y-3">
        <Inbox />
        <AllPlans />
      </div>
    </>
  );
}

function Inbox() {
  const waiting = useQuery(waitingPlansQuery);
  return (
    <Panel
      title="Inbox"
      note={
        waiting.data && <span className="text-xs text-soft">{waitingCount(waiting.data)} waiting for approval</span>
      }
    >
      <Loaded query={waiting} what="the plans that wait for approval">
        {({ plans }) =>
          plans.length === 0 ? (
            <p className="text-sm text-soft">No plans wait for approval.</p>
          ) : (
            <PlanTable rows={plans} caption="Plans that wait for approval" />
          )
        }
      </Loaded>
    </Panel>
  );
}

function AllPlans() {
  const [{ state, deployment }, change] = useAddress();
  const filter: Filter = { ...(state && { state: state as Filter['state'] }), ...(deployment && { deployment }) };
  const isFiltered = Object.keys(filter).length > 0;
  const list = usePagedList<Plan>(['plans', 'all', filter], (request) =>
    slipway.autopilot.plans.list({ ...filter, ...request }),
  );
  return (
    <Panel title={`All, ${list.isOldestFirst ? 'oldest' : 'newest'} first`}>
      <div className="mb-3 flex flex-wrap items-end gap-3">
        <ChoiceFilter name="state" label="State" choices={STATES} />
        <TextFilter name="deployment" label="Deployment" placeholder="chat" />
        {isFiltered && (
          <Button kind="quiet" onClick={() => change({ state: '', deployment: '' })}>
            Clear filters
          </Button>
        )}
      </div>
      <RowList
        list={list}
        what="the plans"
        empty={
          <EmptyState
            title={
              isFiltered
                ? 'No plans match the filters'
                : 'No plans yet. Plans that the autopilot or a person proposes are shown here.'
            }
            command="slipway plans list"
          />
        }
        beyond="Filter the list, or run slipway plans list."
      >
        {(rows) => <PlanTable rows={rows} caption="Plans, newest first" />}
      </RowList>
    </Panel>
  );
}
