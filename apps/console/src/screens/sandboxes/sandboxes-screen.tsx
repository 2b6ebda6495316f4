import { useAddress } from '../../api/search.js';
import { ScreenHead } from '../../ui/panel.js';
import { ReferencesPanel } from './references-panel.js';
import { SandboxesPanel } from './sandboxes-panel.js';
import { Tabs as Base } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';

interface TabsProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  tabs: { value: string; label: ReactNode; content: ReactNode }[];
}

/** Arrow keys move between tabs; keep `value` in the address. */
function Tabs({ label, value, onChange, tabs }: TabsProps) {
  return (
    <Base.Root value={value} onValueChange={(next) => onChange(String(next))}>
      <Base.List aria-label={label} className="mb-3 flex gap-1 overflow-x-auto border-b border-line">
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
        <Base.Panel key={tab.value} value={tab.value}>
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}

/** Workspaces for files: those that Slipway stores, and those of other providers that receive copies. */
export function SandboxesScreen() {
  const [{ tab }, setAddress] = useAddress();
  return (
    <>
      <ScreenHead title="Sandboxes" />
      <Tabs
        label="Sandboxes"
        value={tab === 'references' ? 'references' : 'sandboxes'}
        onChange={(value) => setAddress({ tab: value === 'sandboxes' ? undefined : value })}
        tabs={[
          { value: 'sandboxes', label: 'Sandboxes', content: <SandboxesPanel /> },
          { value: 'references', label: 'External sandboxes', content: <ReferencesPanel /> },
        ]}
      />
    </>
  );
}
