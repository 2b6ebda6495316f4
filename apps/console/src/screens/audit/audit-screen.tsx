import { ScreenHead } from '../../ui/panel.js';

export function AuditScreen() {
  return <ScreenHead title="Audit" />;
}
