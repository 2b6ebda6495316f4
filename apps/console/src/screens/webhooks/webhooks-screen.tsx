import { ScreenHead } from '../../ui/panel.js';

export function WebhooksScreen() {
  return <ScreenHead title="Webhooks" />;
}
