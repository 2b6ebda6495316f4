import { ScreenHead } from '../../ui/panel.js';

export function DeploymentsScreen() {
  return <ScreenHead title="Deployments" />;
}
