import { ScreenHead } from '../../ui/panel.js';

export function TenantsScreen() {
  return <ScreenHead title="Tenants" />;
}
