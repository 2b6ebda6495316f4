import { useAddress } from '../../api/search.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chip.js';
import { classes } from '../../ui/classes.js';
import { TextField } from '../../ui/field.js';
import { TextFilter } from '../../ui/filters.js';
import type { StateCount } from './filter.js';

/** The address contains all of them. */
export function DeploymentFilters({ counts }: { counts: StateCount[] }) {
  const [{ q = '', state, label, environment }, change] = useAddress();
  return (
    <div className="mb-3 space-y-2">
      <div className="flex flex-wrap items-end gap-3">
        <TextField
          label="Search"
          type="search"
          placeholder="name or description"
          maxLength={200}
          value={q}
          onChange={(event) => change({ q: event.target.value })}
        />
        <TextFilter name="label" label="Label" placeholder="team=search" />
        <TextFilter name="environment" label="Environment" placeholder="production" />
        {(q || state || label || environment) && (
          <Button kind="quiet" onClick={() => change({ q: '', state: '', label: '', environment: '' })}>
            Clear filters
          </Button>
        )}
      </div>
      {counts.length > 0 && <StateChips counts={counts} chosen={state} onChoose={(next) => change({ state: next })} />}
    </div>
  );
}

function StateChips({
  counts,
  chosen,
  onChoose,
}: {
  counts: StateCount[];
  chosen: string | undefined;
  onChoose: (state: string | undefined) => void;
}) {
  return (
    <div role="group" aria-label="State" className="flex flex-wrap gap-2">
      {counts.map(({ state, count }) => (
        <button
          key={state}
          type="button"
          aria-pressed={state === chosen}
          onClick={() => onChoose(state === chosen ? undefined : state)}
          className={classes(
            'inline-flex min-h-7 items-center gap-1 rounded-full border px-1 pr-2 text-xs tabular-nums',
            state === chosen ? 'border-accent bg-accent-soft' : 'border-line bg-panel hover:bg-sunken',
          )}
        >
          <Chip word={state} /> {count}
        </button>
      ))}
    </div>
  );
}
