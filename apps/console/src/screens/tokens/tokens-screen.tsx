import { ScreenHead } from '../../ui/panel.js';

export function TokensScreen() {
  return <ScreenHead title="Tokens" />;
}
