import { ScreenHead } from '../../ui/panel.js';

export function TargetsScreen() {
  return <ScreenHead title="Targets" />;
}
