// Runs in place of the image of one of our processes on a node of the test bed:
// node image.mjs <app> <folder> [path of the entry, or -e <script> <argument>] --host <pod's address>
import { existsSync, mkdtempSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { resolveServices } from './service-names.mjs';

const [app, folder, ...given] = process.argv.slice(2);
const host = given.at(-1);
const root = path.resolve(import.meta.dirname, '../../..');
resolveServices(folder);

if (given[0] === '-e') {
  const [, script, argument] = given;
  process.argv = [process.execPath, argument];
  (0, eval)(script);
} else if (app === 'inference-sim') {
  // The first argument is the path of the program in its image.
  process.argv = [process.execPath, 'inference-sim', ...given.slice(1)];
  await import(pathToFileURL(path.join(root, 'tools/inference-sim/dist/main.js')).href);
} else {
  const isServer = given[0] === '--host';
  const entry = isServer ? `apps/${app}/dist/main.js` : given[0];
  // In a pod, this is a volume.
  const home = mkdtempSync(path.join(folder, 'home-'));
  // A kubelet mounts the configuration before it starts a server. The migration has that of the image.
  const config = isServer ? path.join(folder, 'slipway.config.yaml') : path.join(root, 'docker/slipway.config.yaml');
  while (!existsSync(config)) await delay(100);
  const image = { NODE_ENV: 'production', SLIPWAY_HOST: host, SLIPWAY_HOME: home, SLIPWAY_CONFIG: config };
  for (const [name, value] of Object.entries(image)) process.env[name] ??= value;
  await import(pathToFileURL(path.join(root, entry)).href);
}
