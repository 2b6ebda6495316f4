import { ScreenHead } from '../../ui/panel.js';

export function OperationsScreen() {
  return <ScreenHead title="Operations" />;
}
