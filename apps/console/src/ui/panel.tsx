import { useId, type ReactNode } from 'react';
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

/** The head of a screen: its one `h1`, and its actions. */
export function ScreenHead({ title, note, actions }: { title: ReactNode; note?: ReactNode; actions?: ReactNode }) {
  return (
    <div className="mb-3 flex flex-wrap items-center gap-3">
      <h1 className="text-xl font-semibold">{title}</h1>
      {note}
      {actions && <div className="ml-auto flex flex-wrap gap-2">{actions}</div>}
    </div>
  );
}
