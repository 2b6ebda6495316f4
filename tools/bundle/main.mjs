/**
 * Makes the processes as they are shipped: a few files each, without packages to install. Run `npm run build` first.
 *
 *   node tools/bundle/main.mjs <folder> [api|worker|gateway ...]
 *
 * writes <folder>/api, <folder>/worker and <folder>/gateway. See README.md.
 */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { bundleProcess, PROCESSES } from './bundle.mjs';

const [folder, ...names] = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(PROCESSES, name));
if (folder === undefined || unknown.length > 0) {
  console.error(`Usage: node tools/bundle/main.mjs <folder> [${Object.keys(PROCESSES).join('|')} ...]`);
  process.exit(1);
}
for (const name of names.length > 0 ? names : Object.keys(PROCESSES)) {
  const to = path.resolve(folder, name);
  rmSync(to, { recursive: true, force: true });
  const { bytes, packages } = await bundleProcess(name, to);
  console.log(`${to}: ${(bytes / 1e6).toFixed(1)} MB of code, from ${packages.length} packages`);
}
