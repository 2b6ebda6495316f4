import { ScreenHead } from '../../ui/panel.js';

export function OperationScreen() {
  return <ScreenHead title="Operation" />;
}
