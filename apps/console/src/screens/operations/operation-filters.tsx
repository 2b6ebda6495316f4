import { useAddress } from '../../api/search.js';
import { Button } from '../../ui/button.js';
import { ChoiceFilter, TextFilter } from '../../ui/filters.js';

const STATUSES = ['pending', 'running', 'waiting', 'cancelling', 'succeeded', 'failed', 'cancelled'];
const KINDS = ['rollout', 'rollback', 'delete_deployment', 'qualify_target_binding'];

/** They stand in the address. The api filters: it has more rows than a page. */
export function OperationFilters() {
  const [{ status, kind, resource_name }, change] = useAddress();
  return (
    <div className="mb-3 flex flex-wrap items-end gap-3">
      <ChoiceFilter name="status" label="Status" choices={STATUSES} />
      <ChoiceFilter name="kind" label="Kind" choices={KINDS} />
      <TextFilter name="resource_name" label="Resource" placeholder="chat" />
      {(status || kind || resource_name) && (
        <Button kind="quiet" onClick={() => change({ status: '', kind: '', resource_name: '' })}>
          Clear
        </Button>
      )}
    </div>
  );
}
