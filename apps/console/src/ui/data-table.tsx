import {
  flexRender,
  getCoreRowModel,
  getSortedRowModel,
  useReactTable,
  type SortingState,
  type TableOptions,
} from '@tanstack/react-table';
import { useState } from 'react';
import { classes } from './classes.js';

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

/**
 * A table with sortable columns. It scrolls sideways by itself if the window is narrow; `relative`
 * keeps texts for screen readers inside too.
 */
export function DataTable<Row>({ caption, columns, rows, idOf, sortedBy = [], className }: DataTableProps<Row>) {
  const [sorting, setSorting] = useState<SortingState>(sortedBy);
  const table = useReactTable({
    data: rows,
    columns,
    state: { sorting },
    onSortingChange: setSorting,
    getRowId: idOf,
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
  });
  return (
    <div className={classes('relative overflow-x-auto', className)} tabIndex={0} role="region" aria-label={caption}>
      <table className="w-full border-collapse text-left text-sm">
        <caption className="sr-only">{caption}</caption>
        <thead className="sticky top-0 bg-panel">
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id}>
              {group.headers.map(({ id, column, getContext }) => {
                const sorted = column.getIsSorted();
                return (
                  <th
                    key={id}
                    scope="col"
                    aria-sort={sorted ? (sorted === 'asc' ? 'ascending' : 'descending') : undefined}
                    className="border-b border-line px-2 py-1.5 text-xs font-semibold whitespace-nowrap text-soft"
                  >
                    {column.getCanSort() ? (
                      <button type="button" className="inline-flex gap-1" onClick={column.getToggleSortingHandler()}>
                        {flexRender(column.columnDef.header, getContext())}
                        <span aria-hidden>{sorted === 'asc' ? '↑' : sorted === 'desc' ? '↓' : ''}</span>
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
        <tbody>
          {table.getRowModel().rows.map((row) => (
            <tr key={row.id} className="border-b border-line last:border-0 hover:bg-sunken">
              {row.getVisibleCells().map((cell) => (
                <td key={cell.id} className="px-2 py-1.5 align-top">
                  {flexRender(cell.column.columnDef.cell, cell.getContext())}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
