import { ScreenHead } from '../../ui/panel.js';

export function SystemScreen() {
  return <ScreenHead title="System" />;
}
