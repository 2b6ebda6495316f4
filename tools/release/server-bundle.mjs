// Bundles what `@slipway/server` contains, in the folders of the repository: api, worker and gateway as images contain
// them, the launcher of the embedded stack, and the simulator of an inference engine.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundleFiles, bundleProcess, PROCESSES } from '../bundle/bundle.mjs';
import { locationsIn } from '../bundle/contents.mjs';

/** The files of each project that are started, or imported by the command `slipway`. */
const TOOLS = { 'tools/quickstart': ['foreground', 'migrate', 'backup', 'restore'], 'tools/inference-sim': ['main'] };

/** The commands of `slipway-server`, each with its file. In a clone, the scripts of these names do the same. */
export const SERVER_COMMANDS = {
  migrate: 'tools/quickstart/dist/migrate.js',
  backup: 'tools/quickstart/dist/backup.js',
  restore: 'tools/quickstart/dist/restore.js',
  'audit-verify': 'apps/api/dist/audit-verify.js',
  'rotate-secret-key': 'apps/api/dist/rotate-secret-key.js',
};

/**
 * @returns {Promise<{ locations: string[], bundled: Record<string, string> }>} what has a part in it, as locations in
 * package-lock.json, and the versions of those that stay packages, below node_modules
 */
export async function bundleServer(folder) {
  const locations = [];
  for (const name of Object.keys(PROCESSES)) locations.push(...(await bundleProcess(name, folder)).packages);
  for (const [project, entries] of Object.entries(TOOLS))
    locations.push(...(await bundleTool(project, entries, folder)));
  const bundled = {};
  for (const location of new Set(locations)) {
    const file = path.join(folder, location, 'package.json');
    if (existsSync(file)) bundled[location.replace('node_modules/', '')] = withoutDependencies(file);
  }
  return { locations: [...new Set(locations)].sort(), bundled };
}

async function bundleTool(project, entries, folder) {
  const outdir = path.join(folder, project, 'dist');
  const files = entries.map((entry) => `${project}/dist/${entry}.js`);
  const { outputs } = await bundleFiles(files, outdir, { root: folder });
  return locationsIn(outputs);
}

/** Its dependencies would be installed, and one of them reports installations to its maker. @returns its version */
function withoutDependencies(file) {
  const { dependencies: _dependencies, ...manifest } = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest.version;
}
