// Runs in place of the image of one of our processes on a node of the test bed:
// node image.mjs <app> <config file> [path of the entry] --host <pod's address>
import { mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [app, config, ...given] = process.argv.slice(2);
const host = given[given.indexOf('--host') + 1];
const entry = given[0] === '--host' ? `apps/${app}/dist/main.js` : given[0];
const root = path.resolve(import.meta.dirname, '../../..');
// In a pod, this is a volume.
const home = mkdtempSync(path.join(os.tmpdir(), 'slipway-chart-home-'));
const image = { NODE_ENV: 'production', SLIPWAY_HOST: host, SLIPWAY_HOME: home, SLIPWAY_CONFIG: config };
for (const [name, value] of Object.entries(image)) process.env[name] ??= value;
await import(pathToFileURL(path.join(root, entry)).href);
