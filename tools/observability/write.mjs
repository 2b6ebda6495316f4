// Writes what deploy/observability derives from tools/observability/dashboards and alerts.yaml.
//
//   node tools/observability/write.mjs [--check] [--docs-url URL] [--out FOLDER]
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parse, stringify } from 'yaml';
import * as prettier from 'prettier';
import { INFERENCE } from './dashboards/inference.mjs';
import { INSTALLATION } from './dashboards/installation.mjs';
import { dashboardOf } from './dashboards/panels.mjs';

const FOLDER = fileURLToPath(new URL('../../deploy/observability', import.meta.url));
const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    'docs-url': { type: 'string' },
    out: { type: 'string', default: FOLDER },
  },
});

const alerts = readFileSync(path.join(FOLDER, 'alerts.yaml'), 'utf8');
/** Links to the page in the repository; `--docs-url` makes them links that a browser opens. */
const linked = values['docs-url'] ? alerts.replaceAll('docs/alerts.md', values['docs-url']) : alerts;
const files = {
  ...(values['docs-url'] && { 'alerts.yaml': linked }),
  // The kind that the operator of Prometheus reads. Its release often selects rules by labels: add them.
  'prometheus-rule.yaml': stringify(
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name: 'slipway', labels: { 'app.kubernetes.io/name': 'slipway' } },
      spec: parse(linked),
    },
    { lineWidth: 0 },
  ),
  ...Object.fromEntries(
    [...INSTALLATION, ...INFERENCE].map((dashboard) => [
      `dashboards/${dashboard.file}.json`,
      JSON.stringify(dashboardOf(dashboard)),
    ]),
  ),
};

const changed = [];
for (const [name, text] of Object.entries(files)) {
  const at = path.join(values.out, name);
  const options = await prettier.resolveConfig(path.join(FOLDER, name));
  const formatted = await prettier.format(text, { ...options, filepath: at });
  if (contentOf(at) === formatted) continue;
  changed.push(name);
  if (values.check) continue;
  mkdirSync(path.dirname(at), { recursive: true });
  writeFileSync(at, formatted);
}
if (values.check && changed.length > 0) {
  process.stderr.write(`not up to date: ${changed.join(', ')}. Run: node tools/observability/write.mjs\n`);
  process.exitCode = 1;
}

function contentOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
