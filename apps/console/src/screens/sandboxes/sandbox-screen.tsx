import { ScreenHead } from '../../ui/panel.js';

export function SandboxScreen() {
  return <ScreenHead title="Sandbox" />;
}
