/**
 * Lists what each image contains, as CycloneDX documents: api.cdx.json, worker.cdx.json and gateway.cdx.json.
 *
 *   node tools/release/sbom.mjs release/
 *
 * These are the documents that the images contain too: the packages of which a bundle has code, with their licences and
 * hashes, and the base image as one component. Needs a build (`npm run build`) and no network.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleProcess, PROCESSES, SBOM_FILE } from '../bundle/bundle.mjs';

const [folder, ...others] = process.argv.slice(2);
if (folder === undefined || others.length > 0) {
  console.error('Pass one folder: node tools/release/sbom.mjs <folder>');
  process.exit(1);
}
mkdirSync(folder, { recursive: true });
const scratch = mkdtempSync(path.join(tmpdir(), 'slipway-sbom-'));
try {
  for (const name of Object.keys(PROCESSES)) {
    const bundle = path.join(scratch, name);
    const { packages } = await bundleProcess(name, bundle);
    const file = path.join(folder, `${name}.cdx.json`);
    copyFileSync(path.join(bundle, SBOM_FILE), file);
    console.log(`${file}: ${packages.length} packages`);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
