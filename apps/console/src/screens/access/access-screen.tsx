import { ScreenHead } from '../../ui/panel.js';

export function AccessScreen() {
  return <ScreenHead title="Access" />;
}
