import {
  flexRender,
  getCoreRowModel,
  getSortedRowModel,
  useReactTable,
  type SortingState,
  type TableOptions,
} from '@tanstack/react-table';
import { use, useState } from 'react';
import { FittedTable, labelOf, WholeList } from './fitted-table.js';

/** The columns of a table, whose cells have values of different types. */
export type TableColumns<Row> = TableOptions<Row>['columns'];

interface DataTableProps<Row> {
  /** For screen readers. */
  caption: string;
  columns: TableColumns<Row>;
  rows: Row[];
  idOf: (row: Row) => string;
  sortedBy?: SortingState;
  className?: string;
}

/** Always the same list, because each new one makes the table sort again, which draws it again. */
const UNSORTED: SortingState = [];

/** A table with columns that sort it, if it has all rows of its list. */
export function DataTable<Row>({ caption, columns, rows, idOf, sortedBy = [], className }: DataTableProps<Row>) {
  const [chosen, setSorting] = useState<SortingState>(sortedBy);
  const isWhole = use(WholeList);
  const sorting = isWhole ? chosen : UNSORTED;
  const table = useReactTable({
    data: rows,
    columns,
    state: { sorting },
    enableSorting: isWhole,
    onSortingChange: setSorting,
    // There are no pages of it, and a reset draws the table once more.
    autoResetPageIndex: false,
    getRowId: idOf,
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
  });
  return (
    <FittedTable label={caption} className={className}>
      <table role="table" className="w-full border-collapse text-left text-sm">
        <caption className="sr-only">{caption}</caption>
        <thead role="rowgroup" className="sticky top-0 bg-panel">
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id} role="row">
              {group.headers.map(({ id, column, getContext }) => {
                const sorted = column.getIsSorted();
                return (
                  <th
                    key={id}
                    scope="col"
                    role="columnheader"
                    aria-sort={sorted ? (sorted === 'asc' ? 'ascending' : 'descending') : undefined}
                    className="border-b border-line px-2 py-1.5 text-xs font-semibold whitespace-nowrap text-soft"
                  >
                    {column.getCanSort() ? (
                      <button
                        type="button"
                        className="inline-flex gap-1 hover:text-text"
                        onClick={column.getToggleSortingHandler()}
                      >
                        {flexRender(column.columnDef.header, getContext())}
                        <span aria-hidden>{sorted === 'asc' ? '↑' : sorted === 'desc' ? '↓' : '↕'}</span>
                      </button>
                    ) : (
                      flexRender(column.columnDef.header, getContext())
                    )}
                  </th>
                );
              })}
            </tr>
          ))}
        </thead>
        <tbody role="rowgroup">
          {table.getRowModel().rows.map((row) => (
            <tr key={row.id} role="row" className="border-b border-line last:border-0 hover:bg-sunken">
              {row.getVisibleCells().map((cell) => (
                <td
                  key={cell.id}
                  role="cell"
                  data-label={labelOf(cell.column.columnDef.header)}
                  className="px-2 py-1.5 align-top"
                >
                  {flexRender(cell.column.columnDef.cell, cell.getContext())}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </FittedTable>
  );
}
