// Bundles a process from the output of the compiler, because esbuild itself writes no metadata of decorators.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { licencesOf, locationsIn, sbomOf } from './contents.mjs';
import { COMMONJS_NAMES, keepAddresses, packagesAsInNode, ROOT } from './modules.mjs';

/** The files of each process that are started. */
export const PROCESSES = {
  api: ['main', 'migrate', 'backup', 'restore', 'rotate-secret-key', 'audit-verify'],
  worker: ['main'],
  gateway: ['main'],
};

/** The list of components in each bundle. */
export const SBOM_FILE = 'sbom.cdx.json';

/**
 * Packages that stay packages, with these files: one that reads its own files, and one that must be complete before any
 * other module starts, which esbuild does not ensure if it splits a bundle.
 */
const UNBUNDLED = {
  'reflect-metadata': /^(Reflect\.js|package\.json|LICENSE|CopyrightNotice\.txt)$/,
  'swagger-ui-dist':
    /^(absolute-path\.js|package\.json|LICENSE|NOTICE|favicon-\d+x\d+\.png|index\.(css|html)|swagger-ui(-bundle|-standalone-preset)?\.(js|css)(\.LICENSE\.txt)?)$/,
};

/** Modules that each process loads before all others. A file of ours is copied next to the programs. */
const FIRST = {
  api: ['reflect-metadata'],
  worker: ['libs/platform/observability/dist/lean-heap.js', 'reflect-metadata'],
  gateway: [],
};

/**
 * Writes `folder` as a small copy of the repository: `apps/<name>/dist/*.js` with the same names as the output of the
 * compiler, package.json, and files that the process reads. So commands and paths are the same with and without a
 * bundle.
 * @returns {Promise<{ bytes: number, packages: string[] }>} packages as locations in package-lock.json
 */
export async function bundleProcess(name, folder) {
  const outdir = path.join(folder, 'apps', name, 'dist');
  const { outputs } = await buildProcess(name, outdir, folder);
  const { version, license, engines } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  const manifest = { name: `@slipway/${name}`, version, private: true, license, type: 'module', engines };
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const locations = locationsIn(outputs);
  for (const [dependency, files] of Object.entries(UNBUNDLED)) {
    if (!importsOf(outputs).some((specifier) => `${specifier}/`.startsWith(`${dependency}/`))) continue;
    copyPackage(dependency, files, folder);
    locations.push(`node_modules/${dependency}`);
  }
  if (name === 'api') copyConsole(folder);
  writeFileSync(path.join(folder, SBOM_FILE), `${JSON.stringify(sbomOf(name, locations), null, 2)}\n`);
  writeFileSync(path.join(folder, 'THIRD-PARTY-LICENSES.txt'), licencesOf(locations));
  cpSync(path.join(ROOT, 'LICENSE'), path.join(folder, 'LICENSE'));
  const bytes = Object.values(outputs).reduce((sum, output) => sum + output.bytes, 0);
  return { bytes, packages: locations.filter((location) => location.includes('node_modules/')) };
}

async function buildProcess(name, outdir, root) {
  const entryPoints = PROCESSES[name].map((entry) => `apps/${name}/dist/${entry}.js`);
  for (const file of entryPoints)
    if (!existsSync(path.join(ROOT, file))) throw new Error(`${file} does not exist. Run npm run build first.`);
  mkdirSync(outdir, { recursive: true });
  const first = FIRST[name].map((module) => {
    if (!module.endsWith('.js')) return module;
    cpSync(path.join(ROOT, module), path.join(outdir, path.basename(module)));
    return `./${path.basename(module)}`;
  });
  return bundleFiles(entryPoints, outdir, { root, external: Object.keys(UNBUNDLED), first });
}

/**
 * Bundles compiled files, given relative to the repository.
 * @param options.root the folder that has the role of the repository for their addresses
 * @param options.external packages that stay packages
 * @param options.first modules that each file imports before all others
 * @returns the metafile of esbuild
 */
export async function bundleFiles(entryPoints, outdir, { root, external = [], first = [] }) {
  const { metafile } = await build({
    entryPoints,
    outdir,
    chunkNames: '[name]-[hash]',
    absWorkingDir: ROOT,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Dependency injection and migrations use the names of classes. Lines stay, for stack traces.
    keepNames: true,
    minifySyntax: true,
    legalComments: 'none',
    // `debug` takes supports-color if it is there. Here only tools for development have it.
    external: ['*.node', 'pg-native', 'supports-color', ...external],
    plugins: [packagesAsInNode, keepAddresses(outdir, root)],
    banner: { js: [...first.map((module) => `import '${module}';`), COMMONJS_NAMES].join('\n') },
    metafile: true,
    logLevel: 'error',
  });
  return metafile;
}

function importsOf(outputs) {
  return Object.values(outputs).flatMap(({ imports }) => imports.map((one) => one.path));
}

function copyPackage(dependency, files, folder) {
  const from = path.join(ROOT, 'node_modules', dependency);
  const to = path.join(folder, 'node_modules', dependency);
  cpSync(from, to, { recursive: true, filter: (file) => file === from || files.test(path.relative(from, file)) });
}

function copyConsole(folder) {
  const built = 'apps/console/dist';
  if (!existsSync(path.join(ROOT, built, 'index.html'))) throw new Error(`${built} is empty. Run npm run build first.`);
  cpSync(path.join(ROOT, built), path.join(folder, built), { recursive: true });
}
