/**
 * Makes the files of a release: the npm packages, the client for Python, the chart, the lists of what the images
 * contain, and SHA256SUMS over all files of the folder. Run `npm run build` first.
 *
 *   node tools/release/artifacts.mjs <folder> [npm|python|chart|sbom ...]
 *
 * `python` needs Python 3.11 or newer, and `chart` needs helm. The folder should be empty.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SUMS = 'SHA256SUMS';

const run = (program, ...args) =>
  execFileSync(program, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

const KINDS = {
  async npm(folder) {
    const { packNpm } = await import('./npm-packages.mjs');
    await packNpm(folder);
  },
  /** The wheel, and the same as source. */
  python(folder) {
    const client = path.join(ROOT, 'libs/sdk/python');
    const tools = process.env.SLIPWAY_TEST_PYTHON ?? run(process.execPath, path.join(client, 'environment.mjs')).trim();
    run(process.execPath, path.join(client, 'generate.mjs'));
    const build = ['-m', 'hatchling', 'build', '--directory', folder];
    execFileSync(path.join(tools, 'venv/bin/python'), build, { cwd: client, stdio: ['ignore', 'ignore', 'inherit'] });
  },
  chart(folder) {
    const helm = process.env.SLIPWAY_KUBE_BIN ? path.join(process.env.SLIPWAY_KUBE_BIN, 'helm') : 'helm';
    run(helm, 'package', 'deploy/helm/slipway', '--destination', folder);
  },
  sbom(folder) {
    run(process.execPath, 'tools/release/sbom.mjs', folder);
  },
};

/** In the format of sha256sum, so that `sha256sum --check SHA256SUMS` compares them. */
function writeSums(folder) {
  const files = readdirSync(folder).filter((file) => file !== SUMS);
  const lines = files.sort().map((file) => {
    const hash = createHash('sha256').update(readFileSync(path.join(folder, file)));
    return `${hash.digest('hex')}  ${file}\n`;
  });
  writeFileSync(path.join(folder, SUMS), lines.join(''));
}

const [given, ...kinds] = process.argv.slice(2);
const unknown = kinds.filter((kind) => !Object.hasOwn(KINDS, kind));
if (given === undefined || unknown.length > 0) {
  console.error(`Usage: node tools/release/artifacts.mjs <folder> [${Object.keys(KINDS).join('|')} ...]`);
  process.exit(1);
}
const folder = path.resolve(given);
mkdirSync(folder, { recursive: true });
for (const kind of kinds.length > 0 ? kinds : Object.keys(KINDS)) await KINDS[kind](folder);
writeSums(folder);
process.stdout.write(readFileSync(path.join(folder, SUMS), 'utf8'));
