import { createColumnHelper } from '@tanstack/react-table';
import { Link2, ShieldAlert, ShieldCheck } from 'lucide-react';
import { useMemo, useEffect, useState } from 'react';
import { type AuditChainCheck, type AuditRowMark, checkAuditRows } from '@slipway/sdk';
import { slipway } from '../../api/client.js';
import type { AuditRow } from '../../api/items.js';
import { usePagedList } from '../../api/paged-list.js';
import { useAddress } from '../../api/search.js';
import { Button } from '../../ui/button.js';
import { Chip, type Tone } from '../../ui/chip.js';
import { DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { TextFilter } from '../../ui/filters.js';
import { RowList } from '../../ui/row-list.js';
import { Panel, ScreenHead } from '../../ui/panel.js';
import { shellLine } from '../../ui/text/shell-line.js';
import { Time } from '../../ui/time.js';
import { ChainNote } from './chain-note.js';

/** Without encryption there is no `subtle`, although its type says otherwise. */
const canCheck = (): boolean => Boolean((crypto as Partial<Crypto>).subtle);

/** Checks the loaded rows in the browser. The result for earlier rows stays until the check ends. */
function useChainCheck(rows: AuditRow[] | undefined, isWhole: boolean): AuditChainCheck | undefined {
  const [check, setCheck] = useState<AuditChainCheck>();
  useEffect(() => {
    if (!rows || !canCheck()) return undefined;
    let isCurrent = true;
    void checkAuditRows(rows, { sha256, isWhole }).then((made) => isCurrent && setCheck(made));
    return () => {
      isCurrent = false;
    };
  }, [rows, isWhole]);
  return rows && check;
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const FILTERS = ['action', 'actor', 'resource_type', 'resource_name'] as const;

export function AuditScreen() {
  const [address, change] = useAddress();
  const filters = Object.fromEntries(FILTERS.flatMap((name) => (address[name] ? [[name, address[name]]] : [])));
  const isFiltered = Object.keys(filters).length > 0;
  const list = usePagedList(['audit', filters], (page) => slipway.audit.list({ ...filters, ...page }));
  const check = useChainCheck(list.rows, !isFiltered && !list.hasMore);
  const columns = useMemo(() => columnsOf(check), [check]);
  const flags = Object.entries(filters).flatMap(([name, value]) => [`--${name.replace('_', '-')}`, String(value)]);
  const command = shellLine('slipway', 'audit', 'list', ...flags);
  return (
    <>
      <ScreenHead title="Audit" />
      <div className="mb-3 flex flex-wrap items-end gap-2">
        <TextFilter name="action" label="Action" placeholder="rollout.create" />
        <TextFilter name="actor" label="Actor" placeholder="token:tok_…" />
        <TextFilter name="resource_type" label="Resource type" placeholder="deployment" />
        <TextFilter name="resource_name" label="Resource name" placeholder="chat" />
        {isFiltered && (
          <Button onClick={() => change(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}>
            Clear filters
          </Button>
        )}
      </div>
      <ChainNote check={check} canCheck={canCheck()} isFiltered={isFiltered} />
      <Panel title="Audit log, newest first">
        <RowList
          list={list}
          what="the audit log"
          beyond={`Filter the list, or run ${command}.`}
          empty={
            <EmptyState
              title={isFiltered ? 'No audit rows match the filters' : 'No audit rows yet'}
              command={command}
            />
          }
        >
          {(rows) => <DataTable caption="Audit rows" columns={columns} rows={rows} idOf={({ id }) => id} />}
        </RowList>
      </Panel>
    </>
  );
}

const MARKS: Record<AuditRowMark, { tone: Tone; says: string; means: string }> = {
  linked: { tone: 'good', says: 'verified', means: 'Its content matches its hash, and it follows the previous row.' },
  intact: {
    tone: 'good',
    says: 'content verified',
    means: 'Its content matches its hash. The previous row is not loaded.',
  },
  unsealed: { tone: 'plain', says: 'not sealed yet', means: 'It is sealed about a second after it is written.' },
  changed: { tone: 'bad', says: 'changed', means: 'Its content does not match its hash.' },
  unfitting: { tone: 'bad', says: 'does not follow', means: 'It does not follow the previous row.' },
};
const ICONS: Record<AuditRowMark, typeof Link2 | null> = {
  linked: Link2,
  intact: ShieldCheck,
  unsealed: null,
  changed: ShieldAlert,
  unfitting: ShieldAlert,
};

function Mark({ mark }: { mark: AuditRowMark }) {
  const { tone, says, means } = MARKS[mark];
  const Icon = ICONS[mark];
  return (
    <span title={means}>
      <Chip word={says} tone={tone}>
        {Icon && <Icon aria-hidden className="mr-1 size-3" />}
        {says}
      </Chip>
    </span>
  );
}

const column = createColumnHelper<AuditRow>();

const columnsOf = (check: AuditChainCheck | undefined) => [
  column.accessor('at', { header: 'Time', cell: ({ getValue }) => <Time at={getValue()} /> }),
  column.accessor('actor', {
    header: 'Actor',
    cell: ({ getValue }) => <code className="text-xs wrap-anywhere">{getValue()}</code>,
  }),
  column.accessor('action', {
    header: 'Action',
    cell: ({ getValue, row: { original } }) => (
      <>
        {getValue()}
        {original.reads !== undefined && original.reads > 1 && (
          <span className="text-soft"> · {original.reads} reads</span>
        )}
      </>
    ),
  }),
  column.accessor(({ resource_type, resource_name }) => `${resource_type} ${resource_name}`, {
    id: 'resource',
    header: 'Resource',
    cell: ({ row: { original } }) => (
      <span className="min-w-36 wrap-anywhere" title={original.resource_name}>
        <span className="text-soft">{original.resource_type}</span> {original.resource_name}
      </span>
    ),
  }),
  column.accessor('sequence', { header: 'Sequence', cell: ({ getValue }) => getValue() ?? '' }),
  // Not an accessor: the table caches those values as long as it has the same rows.
  column.display({
    id: 'mark',
    header: 'Verified in browser',
    cell: ({ row: { original } }) => {
      const mark = check?.marks.get(original.id);
      return mark ? <Mark mark={mark} /> : <span className="text-soft">no</span>;
    },
  }),
  column.display({ id: 'details', header: 'Details', cell: ({ row: { original } }) => <Details row={original} /> }),
];

function Details({ row }: { row: AuditRow }) {
  const facts = [
    ['id', row.id],
    ['request_id', row.request_id],
    ['before_digest', row.before_digest],
    ['after_digest', row.after_digest],
    ['hash', row.hash],
  ] as const;
  return (
    <details className="text-xs">
      <summary className="cursor-pointer">
        Show
        <span className="sr-only">
          {' '}
          {row.action} of {row.resource_name}
        </span>
      </summary>
      <dl className="grid grid-cols-[auto_1fr] gap-x-2">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-soft">{name}</dt>
            <dd className="max-w-60 wrap-anywhere">
              <code>{value ?? 'none'}</code>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
