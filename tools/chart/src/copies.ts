import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { CHART, ROOT } from './chart.js';

const OBSERVABILITY = path.join(ROOT, 'deploy/observability');
const DASHBOARDS = path.join(OBSERVABILITY, 'dashboards');
const FILES = path.join(CHART, 'files');

/**
 * Files of the chart that are copies, with their sources. A chart contains only its own folder, and Helm reports each
 * symbolic link to every user. `node tools/chart/dist/main.js` writes them; a test compares them.
 */
export function copiedFiles(): { source: string; copy: string }[] {
  const dashboards = existsSync(DASHBOARDS) ? readdirSync(DASHBOARDS).filter((name) => name.endsWith('.json')) : [];
  return [
    { source: path.join(ROOT, 'docker/postgres-init.sh'), copy: path.join(FILES, 'postgres-init.sh') },
    { source: path.join(OBSERVABILITY, 'alerts.yaml'), copy: path.join(FILES, 'alerts.yaml') },
    ...dashboards.map((name) => ({ source: path.join(DASHBOARDS, name), copy: path.join(FILES, 'dashboards', name) })),
  ];
}
