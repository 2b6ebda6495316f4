import type { ReactNode } from 'react';

/** The part of a panel that scrolls in itself, by the keyboard too. On a narrow window it is as high as a hand can scroll past. */
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
