import type { QueryKey } from '@tanstack/react-query';
import { createColumnHelper } from '@tanstack/react-table';
import { Plus } from 'lucide-react';
import { createContext, use, type ReactNode } from 'react';
import { useAddress } from '../api/search.js';
import { useMay, type Scope } from '../api/who.js';
import { Button } from '../ui/button.js';
import { DataTable, type TableColumns } from '../ui/data-table.js';
import { EmptyState } from '../ui/empty-state.js';
import { ChoiceFilter } from '../ui/filters.js';
import { Panel } from '../ui/panel.js';
import { RowList, type Pages } from '../ui/row-list.js';
import { ActionButtons, useActions } from './action-dialog.js';
import type { Action } from './action.js';

/** A filter of the api, whose value is kept in the address. */
export interface ListFilter {
  name: string;
  label: string;
  choices: readonly string[];
}

interface ResourcePanelProps<Row> {
  title: string;
  note?: ReactNode;
  /** The rows, in the plural: `tokens`. */
  what: string;
  list: Pages<Row>;
  columns: TableColumns<Row>;
  idOf: (row: Row) => string;
  /** The name of a row for people. */
  nameOf: (row: Row) => string;
  filters?: readonly ListFilter[];
  /** The command that lists all. */
  command: string;
  empty: { title: string; command: string; text?: string };
  /** The scope of all actions. */
  needs: Scope;
  /** The words on the button are those of its title. */
  create?: readonly Action[];
  actions?: readonly Action<Row>[];
  /** Buttons of a row that change nothing, before its actions. */
  views?: (row: Row) => ReactNode;
  /** The queries that are read again after an action. */
  renews: readonly QueryKey[];
  className?: string;
  children?: ReactNode;
}

interface RowControls<Row> {
  actions: readonly Action<Row>[];
  nameOf(row: Row): string;
  views?(row: Row): ReactNode;
  open(action: Action<Row>, row: Row): void;
}

const Controls = createContext<RowControls<unknown> | null>(null);

/** A table makes a cell anew if its column is another one: this one stays, with the focus of its buttons. */
const CONTROLS = createColumnHelper<unknown>().display({
  id: 'actions',
  header: () => <span className="sr-only">Actions</span>,
  cell: ({ row: { original } }) => <ControlsOf row={original} />,
});

function ControlsOf({ row }: { row: unknown }) {
  const { actions, nameOf, views, open } = use(Controls)!;
  return (
    <span className="inline-flex flex-wrap gap-1">
      {views?.(row)}
      <ActionButtons isSmall actions={actions} row={row} name={nameOf(row)} onOpen={open} />
    </span>
  );
}

/** A list of the api with its filters, the actions on its rows, and the forms that make new ones. */
export function ResourcePanel<Row>(props: ResourcePanelProps<Row>) {
  const {
    title,
    note,
    what,
    list,
    columns,
    idOf,
    nameOf,
    filters = [],
    command,
    empty,
    views,
    renews,
    children,
  } = props;
  const mayChange = useMay(props.needs);
  const [address] = useAddress();
  const making = useActions<undefined>(...renews);
  const changing = useActions<Row>(...renews);
  const actions = mayChange ? (props.actions ?? []) : [];
  const isFiltered = filters.some(({ name }) => address[name]);
  return (
    <Panel
      title={title}
      note={note}
      actions={
        mayChange &&
        props.create?.map((action) => (
          <Button
            key={action.verb + action.button}
            isSmall
            kind="primary"
            icon={<Plus aria-hidden className="size-3.5" />}
            onClick={() => making.open(action, undefined)}
          >
            {action.button ?? action.verb}
          </Button>
        ))
      }
    >
      {children}
      {filters.length > 0 && (
        <div className="mb-3 flex flex-wrap gap-3">
          {filters.map(({ name, label, choices }) => (
            <ChoiceFilter key={name} name={name} label={label} choices={choices} />
          ))}
        </div>
      )}
      <RowList
        list={list}
        what={`the ${what}`}
        beyond={`To list all, run ${command}.`}
        empty={
          isFiltered ? (
            <EmptyState title={`No ${what} match the filter`} command={command} />
          ) : (
            <EmptyState title={empty.title} command={empty.command}>
              {empty.text && <p className="text-sm text-soft">{empty.text}</p>}
            </EmptyState>
          )
        }
      >
        {(rows) => (
          <Controls value={{ actions, nameOf, views, open: changing.open } as RowControls<unknown>}>
            <DataTable
              caption={`List of ${what}`}
              className={props.className}
              columns={[...columns, CONTROLS as TableColumns<Row>[number]]}
              rows={rows}
              idOf={idOf}
            />
          </Controls>
        )}
      </RowList>
      {making.dialog}
      {changing.dialog}
    </Panel>
  );
}
