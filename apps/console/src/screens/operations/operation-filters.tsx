import { useAddress } from '../../api/search.js';
import { Button } from '../../ui/button.js';
import { SelectField } from '../../ui/field.js';
import { SubmittedField } from '../../ui/submitted-field.js';

const STATUSES = ['pending', 'running', 'waiting', 'cancelling', 'succeeded', 'failed', 'cancelled'];
const KINDS = ['rollout', 'rollback', 'delete_deployment', 'qualify_target_binding'];

/** They stand in the address. The api filters: it has more rows than a page. */
export function OperationFilters() {
  const [{ status = '', kind = '', resource_name = '' }, change] = useAddress();
  return (
    <div className="mb-3 flex flex-wrap items-end gap-3">
      <SelectField label="Status" value={status} onChange={(event) => change({ status: event.target.value })}>
        <Choices of={STATUSES} now={status} />
      </SelectField>
      <SelectField label="Kind" value={kind} onChange={(event) => change({ kind: event.target.value })}>
        <Choices of={KINDS} now={kind} />
      </SelectField>
      <SubmittedField
        label="Of"
        placeholder="chat"
        value={resource_name}
        onChange={(next) => change({ resource_name: next })}
      />
      {(status || kind || resource_name) && (
        <Button kind="quiet" onClick={() => change({ status: '', kind: '', resource_name: '' })}>
          Clear
        </Button>
      )}
    </div>
  );
}

/** An address may name what this page does not know. */
function Choices({ of, now }: { of: readonly string[]; now: string }) {
  const all = now === '' || of.includes(now) ? of : [...of, now];
  return (
    <>
      <option value="">any</option>
      {all.map((one) => (
        <option key={one} value={one}>
          {one.replaceAll('_', ' ')}
        </option>
      ))}
    </>
  );
}
