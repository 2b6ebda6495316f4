import type { Operation, OptionsOf } from '@slipway/sdk';
import { useQuery } from '@tanstack/react-query';
import { slipway } from '../../api/client.js';
import { isLive } from '../../api/operation-state.js';
import { usePagedList } from '../../api/paged-list.js';
import { REFRESH_MS } from '../../api/query-client.js';
import { choicesOf, useAddress } from '../../api/search.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Loaded } from '../../ui/loaded.js';
import { RowList } from '../../ui/row-list.js';
import { Panel, ScreenHead } from '../../ui/panel.js';
import { stuckFirst } from './concern.js';
import { OperationTable } from './operation-table.js';
import { Button } from '../../ui/button.js';
import { ChoiceFilter, TextFilter } from '../../ui/filters.js';
import { WAIT_NOUNS, WAIT_REASONS } from '../../rollouts/waiting-text.js';

const STATUSES = choicesOf<'listOperations', 'status'>({
  pending: true,
  running: true,
  waiting: true,
  cancelling: true,
  succeeded: true,
  failed: true,
  cancelled: true,
});
const KINDS = choicesOf<'listOperations', 'kind'>({
  rollout: true,
  rollback: true,
  bake: true,
  restart: true,
  delete_deployment: true,
  qualify_target_binding: true,
  sandbox_file_push: true,
});

/** The address contains them. The api filters, because it has more rows than a page. */
function OperationFilters() {
  const [{ status, waiting_for, kind, resource_name }, change] = useAddress();
  return (
    <div className="mb-3 flex flex-wrap items-end gap-3">
      <ChoiceFilter name="status" label="Status" choices={STATUSES} />
      <ChoiceFilter name="waiting_for" label="Waits for" choices={WAIT_REASONS} words={WAIT_NOUNS} />
      <ChoiceFilter name="kind" label="Kind" choices={KINDS} />
      <TextFilter name="resource_name" label="Resource" placeholder="chat" />
      {(status || waiting_for || kind || resource_name) && (
        <Button kind="quiet" onClick={() => change({ status: '', waiting_for: '', kind: '', resource_name: '' })}>
          Clear filters
        </Button>
      )}
    </div>
  );
}

const LIVE = STATUSES.filter((status) => isLive({ status }));
/** For each unfinished status: a page that shows stuck operations needs all of them, within reason. */
const MOST_LIVE = 100;

type Filter = Pick<OptionsOf<'listOperations'>, 'status' | 'waiting_for' | 'kind' | 'resource_name'>;

/** Durable work across all deployments, the most urgent first. */
export function OperationsScreen() {
  const [{ status, waiting_for, kind, resource_name }] = useAddress();
  const filter = {
    ...(status && { status: status as Filter['status'] }),
    ...(waiting_for && { waiting_for: waiting_for as Filter['waiting_for'] }),
    ...(kind && { kind: kind as Filter['kind'] }),
    ...(resource_name && { resource_name }),
  };
  return (
    <>
      <ScreenHead title="Operations" />
      <OperationFilters />
      <div className="space-y-3">
        {!status && <GoingOn filter={filter} />}
        <Newest filter={filter} />
      </div>
    </>
  );
}

function GoingOn({ filter }: { filter: Filter }) {
  const query = useQuery({
    queryKey: ['operations', 'live', filter],
    queryFn: async ({ signal }) => {
      const pages = await Promise.all(
        LIVE.map((status) => slipway.operations.list({ ...filter, status, limit: MOST_LIVE, signal })),
      );
      // An operation that changed its status between two requests is in both answers.
      return [...new Map(pages.flatMap(({ data }) => data).map((row) => [row.id, row])).values()];
    },
    refetchInterval: REFRESH_MS,
  });
  return (
    <Panel title="In progress, stuck first" note={query.data && <Count of={query.data} />}>
      <Loaded query={query} what="the operations in progress">
        {(rows) =>
          rows.length === 0 ? (
            <p className="text-sm text-soft">No operations are in progress.</p>
          ) : (
            <OperationTable rows={stuckFirst(rows, Date.now())} caption="Operations in progress, stuck first" />
          )
        }
      </Loaded>
    </Panel>
  );
}

const Count = ({ of }: { of: Operation[] }) => <span className="text-xs text-soft">{of.length}</span>;

function Newest({ filter }: { filter: Filter }) {
  const list = usePagedList<Operation>(['operations', 'newest', filter], (request) =>
    slipway.operations.list({ ...filter, ...request }),
  );
  return (
    <Panel title={`${filter.status ?? 'All'}, ${list.isOldestFirst ? 'oldest' : 'newest'} first`}>
      <RowList
        list={list}
        what="the operations"
        empty={
          <EmptyState
            title={Object.keys(filter).length > 0 ? 'No operations match the filters' : 'No operations yet'}
            command="slipway operations list"
          />
        }
        beyond="Filter the list, or run slipway operations list."
      >
        {(rows) => <OperationTable rows={rows} caption="Operations, newest first" />}
      </RowList>
    </Panel>
  );
}
