import { ScreenHead } from '../../ui/panel.js';

export function PlanScreen() {
  return <ScreenHead title="Plan" />;
}
