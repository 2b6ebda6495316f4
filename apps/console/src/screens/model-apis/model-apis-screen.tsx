import { ScreenHead } from '../../ui/panel.js';

export function ModelApisScreen() {
  return <ScreenHead title="Model APIs" />;
}
