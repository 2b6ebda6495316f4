import type { ReactNode } from 'react';

/**
 * The part of a panel that scrolls by itself, also with the keyboard. In a narrow window,
 * its height lets a person scroll past it.
 */
export function Scrolled({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div
      role="region"
      aria-label={label}
      tabIndex={0}
      className="-m-1 max-h-96 overflow-auto p-1 xl:max-h-none xl:h-[calc(100%+0.5rem)]"
    >
      {children}
    </div>
  );
}
