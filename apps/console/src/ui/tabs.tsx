import { Tabs as Base } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';
import { classes } from './classes.js';

interface TabsProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  tabs: { value: string; label: ReactNode; content: ReactNode }[];
  /** The content takes the height that is left in a column. */
  isTall?: boolean;
}

/** Arrow keys move between tabs; keep `value` in the address. */
export function Tabs({ label, value, onChange, tabs, isTall }: TabsProps) {
  const tall = classes(isTall && 'flex min-h-0 grow flex-col');
  return (
    <Base.Root value={value} onValueChange={(next) => onChange(String(next))} className={tall}>
      <Base.List aria-label={label} className="mb-3 flex shrink-0 gap-1 overflow-x-auto border-b border-line">
        {tabs.map((tab) => (
          <Base.Tab
            key={tab.value}
            value={tab.value}
            className="border-b-2 border-transparent px-3 py-2 text-sm whitespace-nowrap text-soft data-[active]:border-accent data-[active]:text-text"
          >
            {tab.label}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Panel key={tab.value} value={tab.value} className={tall}>
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
