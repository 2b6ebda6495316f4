import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { childEnvironment } from '@slipway/platform-config';
import { format, resolveConfig } from 'prettier';
import { kubeProgram, RAW } from './chart.js';
import { renderChart } from './helm.js';
import { rawManifests } from './manifests.js';

// Regenerates the manifests in deploy/kubernetes: SLIPWAY_KUBE_BIN=<folder with helm> node tools/chart/dist/main.js
const helm = kubeProgram('helm', childEnvironment()['SLIPWAY_KUBE_BIN']);
if (helm === undefined) {
  process.stderr.write(
    'helm was not found in the folder SLIPWAY_KUBE_BIN. Run `node tools/kube-testbed/build.mjs` to build it.\n',
  );
  process.exit(1);
}
const objects = await renderChart({ helm, values: [path.join(RAW, 'values.yaml')] });
for (const [name, text] of rawManifests(objects, 'slipway')) {
  const file = path.join(RAW, name);
  await writeFile(file, await format(text, { ...(await resolveConfig(file)), parser: 'yaml' }));
  process.stdout.write(`${path.relative(process.cwd(), file)}\n`);
}
