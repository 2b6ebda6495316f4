import { useState, type ReactNode } from 'react';
import { actorName } from '../../api/actor-name.js';
import type { Revision } from '../../api/items.js';
import { useMay } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chip.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Fitted, TitledTable, type TitledRow } from '../../ui/fitted-table.js';
import { Loaded } from '../../ui/loaded.js';
import { Panel } from '../../ui/panel.js';
import { oneLine } from '../../ui/text/one-line.js';
import { Time } from '../../ui/time.js';
import { useDeployment, useOperations, useRevisions } from './deployment-data.js';
import { DiffDialog } from './diff-dialog.js';
import { isLive } from '../../api/operation-state.js';
import { Scrolled } from './scrolled.js';
import { shortDigest } from './short-text.js';
import { whyNoRollback } from './traffic.js';

/** Of a message: the diff dialog and the operation have all of it. */
const MOST_TEXT = 160;

const TITLES = [
  'No.',
  'Result',
  'Author',
  <span key="actions" className="sr-only">
    Actions
  </span>,
];

interface RevisionsPanelProps {
  name: string;
  className?: string;
  onRollBack: (revision: string) => void;
}

/** Shows the previous rollouts, and which revisions a rollback can restore. */
export function RevisionsPanel({ name, className, onRollBack }: RevisionsPanelProps) {
  const revisions = useRevisions(name);
  const { data: deployment } = useDeployment(name);
  const { data: operations } = useOperations(name);
  const mayRollBack = useMay('operator');
  const [compared, setCompared] = useState<Revision>();
  const active = deployment?.active_revision ?? null;
  const isBusy = (operations ?? []).some(isLive);
  const rows = revisions.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Panel title="Revisions" className={className} note={<span className="text-xs text-soft">{rows.length}</span>}>
      <Loaded query={revisions} what="the revisions">
        {() =>
          rows.length === 0 ? (
            <EmptyState
              title="No revisions yet. A rollout creates the first one."
              command={`slipway rollouts create ${name} --revision-file spec.yaml --strategy immediate`}
            />
          ) : (
            <Scrolled label="Revisions, newest first">
              <Fitted>
                <TitledTable
                  isSmall
                  caption="Revisions, newest first"
                  titles={TITLES}
                  rows={rows.map((revision) =>
                    rowOf(
                      revision,
                      <RevisionActions
                        number={revision.number}
                        mayRollBack={mayRollBack}
                        why={whyNoRollback(revision, active, isBusy)}
                        onCompare={() => setCompared(revision)}
                        onRollBack={() => onRollBack(revision.name)}
                      />,
                    ),
                  )}
                />
              </Fitted>
              {revisions.hasNextPage && (
                <Button
                  isSmall
                  className="mt-2"
                  isBusy={revisions.isFetchingNextPage}
                  onClick={() => void revisions.fetchNextPage()}
                >
                  Load more
                </Button>
              )}
            </Scrolled>
          )
        }
      </Loaded>
      {compared && <DiffDialog name={name} revision={compared} onClose={() => setCompared(undefined)} />}
    </Panel>
  );
}

function rowOf(revision: Revision, actions: ReactNode): TitledRow {
  const { id, number, state, message, spec, spec_digest, created_by, created_at, change_ref } = revision;
  return {
    key: id,
    cells: [
      number,
      <>
        <span className="flex flex-wrap items-center gap-1">
          <Chip word={state} />
          <span>{spec.model.id}</span>
          <code className="text-soft">{shortDigest(spec_digest)}</code>
        </span>
        {message && (
          <span className="block text-bad" title={message}>
            {oneLine(message, MOST_TEXT)}
          </span>
        )}
      </>,
      <>
        <span className="block" title={created_by.id}>
          {actorName(created_by)}
        </span>
        <span className="text-soft">
          <Time at={created_at} />
          {change_ref && ` · ${change_ref}`}
        </span>
      </>,
      actions,
    ],
  };
}

interface RevisionActionsProps {
  number: number;
  mayRollBack: boolean;
  /** Why it cannot be restored. */
  why: string | null;
  onCompare: () => void;
  onRollBack: () => void;
}

function RevisionActions({ number, mayRollBack, why, onCompare, onRollBack }: RevisionActionsProps) {
  return (
    <>
      <div className="flex flex-wrap justify-end gap-1">
        <Button kind="quiet" isSmall aria-label={`Show diff of revision ${number}`} onClick={onCompare}>
          Show diff
        </Button>
        {mayRollBack && !why && (
          <Button isSmall aria-label={`Roll back to revision ${number}`} onClick={onRollBack}>
            Roll back
          </Button>
        )}
      </div>
      {mayRollBack && why && <p className="text-right text-soft">{why}</p>}
    </>
  );
}
