import { useAddress } from '../../api/search.js';
import { ScreenHead } from '../../ui/panel.js';
import { Tabs } from '../../ui/tabs.js';
import { ReferencesPanel } from './references-panel.js';
import { SandboxesPanel } from './sandboxes-panel.js';

/** Places for files: those that Slipway keeps, and those of other providers that files are passed on to. */
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
