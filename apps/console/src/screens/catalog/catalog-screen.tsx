import { ScreenHead } from '../../ui/panel.js';

export function CatalogScreen() {
  return <ScreenHead title="Catalog" />;
}
