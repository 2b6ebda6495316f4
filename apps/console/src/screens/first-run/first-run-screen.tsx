import { ScreenHead } from '../../ui/panel.js';

export function FirstRunScreen() {
  return <ScreenHead title="First run" />;
}
