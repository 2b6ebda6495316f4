import { ScreenHead } from '../../ui/panel.js';

export function PlaygroundScreen() {
  return <ScreenHead title="Playground" />;
}
