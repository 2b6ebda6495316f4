import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { childEnvironment } from '@slipway/platform-config';
import { format, resolveConfig } from 'prettier';
import { chartRules, copiedFiles, kubeProgram, PRODUCTION, RAW } from './chart.js';
import { renderChart } from './helm.js';
import { outsideManifest, rawManifests } from './manifests.js';

// Copies what the chart has from other folders, and renders it as manifests for kubectl, by default with the production
// values into deploy/kubernetes:
// SLIPWAY_KUBE_BIN=<folder with helm> node tools/chart/dist/main.js [--values <file>] [--into <folder>]
const { values } = parseArgs({
  options: { values: { type: 'string', default: PRODUCTION }, into: { type: 'string', default: RAW } },
});
const helm = kubeProgram('helm', childEnvironment()['SLIPWAY_KUBE_BIN']);
if (helm === undefined) {
  process.stderr.write(
    'helm was not found in the folder SLIPWAY_KUBE_BIN. Run `node tools/kube-testbed/build.mjs` to build it.\n',
  );
  process.exit(1);
}
for (const { source, copy } of copiedFiles()) {
  await mkdir(path.dirname(copy), { recursive: true });
  await copyFile(source, copy);
}
const objects = await renderChart({ helm, values: [values.values] });
await mkdir(values.into, { recursive: true });
const files = [...rawManifests(objects, 'slipway'), ['outside-cluster.yaml', outsideManifest(chartRules(), 'slipway')]];
for (const [name = '', text = ''] of files) {
  const file = path.join(values.into, name);
  await writeFile(file, await format(text, { ...(await resolveConfig(path.join(RAW, name))), parser: 'yaml' }));
  process.stdout.write(`${path.relative(process.cwd(), file)}\n`);
}
