import { ScreenHead } from '../../ui/panel.js';

export function DeploymentScreen() {
  return <ScreenHead title="Deployment" />;
}
