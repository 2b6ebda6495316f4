import { ScreenHead } from '../../ui/panel.js';

export function SandboxesScreen() {
  return <ScreenHead title="Sandboxes" />;
}
