import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { classes } from './classes.js';

interface PanelProps {
  title: string;
  /** Next to the title: a count, a chip. */
  note?: ReactNode;
  actions?: ReactNode;
  className?: string;
  children: ReactNode;
}

/** A named part of a screen. It scrolls its overflow, which the keyboard can reach if the part itself allows that. */
export function Panel({ title, note, actions, className, children }: PanelProps) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className={classes('flex min-w-0 flex-col rounded-lg border border-line bg-panel', className)}
    >
      <header className="flex min-h-9 flex-wrap items-center gap-2 border-b border-line px-3 py-1">
        <h2 id={id} className="text-sm font-semibold">
          {title}
        </h2>
        {note}
        {actions && <div className="ml-auto flex flex-wrap items-center gap-1">{actions}</div>}
      </header>
      <div className="min-h-0 min-w-0 grow p-3">{children}</div>
    </section>
  );
}

const PRODUCT = 'Slipway';

/** Names the window after the screen, so that tabs, bookmarks and the history of the browser differ. */
export function useWindowTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · ${PRODUCT}` : PRODUCT;
    return () => {
      document.title = PRODUCT;
    };
  }, [title]);
}

interface ScreenHeadProps {
  title: ReactNode;
  note?: ReactNode;
  actions?: ReactNode;
}

/** The head of a screen: its one `h1`, which also names the window, and its actions. */
export function ScreenHead({ title, note, actions }: ScreenHeadProps) {
  const head = useRef<HTMLHeadingElement>(null);
  const [text, setText] = useState('');
  useEffect(() => setText(head.current?.textContent ?? ''), [title]);
  useWindowTitle(text);
  return (
    <div className="mb-3 flex flex-wrap items-center gap-3">
      <h1 ref={head} className="min-w-0 text-xl font-semibold wrap-anywhere">
        {title}
      </h1>
      {note}
      {actions && <div className="ml-auto flex flex-wrap gap-2">{actions}</div>}
    </div>
  );
}
