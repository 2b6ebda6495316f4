import { useQuery } from '@tanstack/react-query';
import { slipway } from '../../api/client.js';
import type { Revision } from '../../api/items.js';
import { CopyAs } from '../../ui/copy.js';
import { Dialog } from '../../ui/dialogs/dialog.js';
import { Loaded } from '../../ui/loaded.js';
import { Changes } from './changes.js';

/** Shows what a revision changed in its base revision, and its complete spec. */
export function DiffDialog({ name, revision, onClose }: { name: string; revision: Revision; onClose: () => void }) {
  // The first revision has no base; one that was made without a base is compared with the previous number.
  const base = revision.source.base_revision ?? (revision.number > 1 ? String(revision.number - 1) : null);
  const diff = useQuery({
    queryKey: ['revision-diff', name, base, revision.number],
    queryFn: ({ signal }) => slipway.deployments.revisions.diff(name, base!, String(revision.number), { signal }),
    enabled: base !== null,
  });
  return (
    <Dialog
      isOpen
      isWide
      onClose={onClose}
      title={`Revision ${revision.number}`}
      description={
        base ? `Changes since ${base}` : 'This is the first revision. There is no earlier one to compare it with.'
      }
      footer={
        base && (
          <CopyAs
            action={{
              curl: { method: 'GET', path: `/api/v1/deployments/${name}/revisions/${base}/diff/${revision.number}` },
              cli: `slipway revisions diff ${name} ${base} ${revision.number}`,
            }}
          />
        )
      }
    >
      {base && (
        <Loaded query={diff} what="the diff">
          {({ patch }) => <Changes changes={patch} none="No changes. The two specs are identical." />}
        </Loaded>
      )}
      <h3 className="text-sm font-semibold">Full spec</h3>
      <pre
        className="max-h-80 overflow-auto rounded bg-sunken p-2 text-xs"
        tabIndex={0}
        role="region"
        aria-label="Full spec"
      >
        {JSON.stringify(revision.spec, null, 2).slice(0, 20_000)}
      </pre>
    </Dialog>
  );
}
