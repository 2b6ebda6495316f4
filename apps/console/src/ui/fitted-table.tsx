import { createContext, useEffect, useLayoutEffect, useRef, type ComponentProps, type ReactNode } from 'react';
import { classes } from './classes.js';

/** Whether a table has all rows of its list. A part of a list cannot be sorted: its first row may be on another page. */
export const WholeList = createContext(true);

interface FittedProps extends ComponentProps<'div'> {
  /**
   * A table. Its cells have the title of their column as `data-label`, and all elements have explicit roles, because a
   * changed `display` removes those that they have by themselves.
   */
  children: ReactNode;
}

/**
 * Makes a table fit. If there is too little width for its columns, each row becomes a list of its cells, so that nothing
 * is cut and no word is broken. The content decides: the same width may be enough for other rows.
 */
export function Fitted({ className, children, ...others }: FittedProps) {
  const box = useRef<HTMLDivElement>(null);
  const laidOut = useRef('');
  // A layout is slow: a render that changes no text needs none, and the observer sees everything else that matters.
  useLayoutEffect(() => {
    const text = box.current!.textContent;
    if (text === laidOut.current) return;
    laidOut.current = text;
    layOut(box.current!);
  });
  useEffect(() => {
    const { current } = box;
    let frame = 0;
    // In the next frame: a change of size in the callback itself would be reported as an error of the page.
    const observer = new ResizeObserver(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => layOut(current!));
    });
    observer.observe(current!);
    for (const child of current!.children) observer.observe(child);
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
    };
  }, []);
  return (
    <div ref={box} className={classes('fitted-table relative overflow-x-auto', className)} {...others}>
      {children}
    </div>
  );
}

interface FittedTableProps {
  /** For screen readers. */
  label: string;
  className?: string;
  children: ReactNode;
}

/** The same as a part of the page with a name, which the keyboard can scroll. */
export const FittedTable = ({ label, ...others }: FittedTableProps) => (
  <Fitted tabIndex={0} role="region" aria-label={label} {...others} />
);

export interface TitledRow {
  key: string;
  /** One for each title. The first one names the row. A text is a number with its unit, and stays on one line. */
  cells: readonly ReactNode[];
}

interface TitledTableProps {
  caption: ReactNode;
  isCaptionShown?: boolean;
  titles: readonly ReactNode[];
  rows: readonly TitledRow[];
  /** Between other content: rows stay low, also if they become lists. */
  isSmall?: boolean;
}

/** The table of a `Fitted`, for a few rows that need no sorting. */
export function TitledTable({ caption, isCaptionShown, titles, rows, isSmall }: TitledTableProps) {
  const padding = isSmall ? 'py-0.5 pr-2' : 'px-2 py-1';
  return (
    <table
      role="table"
      className={classes('w-full border-collapse text-left', isSmall ? 'small-rows text-xs' : 'text-sm')}
    >
      <caption className={isCaptionShown ? 'pb-1 text-left text-soft' : 'sr-only'}>{caption}</caption>
      <thead role="rowgroup" className="text-xs text-soft">
        <tr role="row">
          {titles.map((title, at) => (
            <th
              key={at}
              scope="col"
              role="columnheader"
              className={classes('font-semibold whitespace-nowrap', padding)}
            >
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map(({ key, cells: [name, ...cells] }) => (
          <tr key={key} role="row" className="border-t border-line align-top">
            <th
              scope="row"
              role="rowheader"
              data-label={labelOf(titles[0])}
              className={classes('font-medium', padding)}
            >
              {name}
            </th>
            {cells.map((cell, at) => (
              <td
                key={at}
                role="cell"
                data-label={labelOf(titles[at + 1])}
                className={classes(padding, typeof cell === 'string' && 'whitespace-nowrap tabular-nums')}
              >
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Returns the title that a cell shows if its row becomes a list. A column of buttons has none. */
export const labelOf = (title: unknown): string | undefined => (typeof title === 'string' && title ? title : undefined);

/** From the best to the narrowest: columns, cells with their titles beside them, and cells with their titles above them. */
const LAYOUTS = ['columns', 'beside', 'above'];

/** Tries the layouts: the width that one needs is known only while it is in force. Nothing is painted in between. */
function layOut(box: HTMLElement): void {
  for (const layout of LAYOUTS) {
    box.dataset['layout'] = layout;
    if (box.scrollWidth <= box.clientWidth) return;
  }
}
