// Bundles of the modules that tests load: a few files instead of thousands. Finding, reading and compiling modules
// takes most of the time of a short suite and of a server's start. Bundles are created once and kept in
// node_modules/.cache until their inputs change.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMMONJS_NAMES, keepAddresses, packagesAsInNode, reexport } from '../bundle/modules.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = path.join(ROOT, 'node_modules/.cache/slipway-test');
const SERVERS = ['api', 'worker', 'gateway'];

/** The third-party packages that specs load as bundles. A test requires every package of sources and specs in this list or the next. */
export const THIRD_PARTY = [
  '@aws-sdk/client-s3',
  '@aws-sdk/lib-storage',
  '@fastify/static',
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/platform-fastify',
  '@nestjs/swagger',
  '@nestjs/testing',
  '@nestjs/typeorm',
  'ajv/dist/2020.js',
  'bullmq',
  'class-validator',
  'fast-check',
  'fast-json-patch',
  'fastify',
  'ioredis',
  'ipaddr.js',
  'jose',
  'lru-cache',
  'openid-client',
  'pino',
  'prom-client',
  'typeorm',
  'undici',
  'uuidv7',
  'yaml',
];

/** The packages that specs load unbundled, each with its reason. */
export const UNBUNDLED = {
  // These must exist only once: TypeORM compares the classes of `pg`, and `reflect-metadata` stores the data of
  // decorators.
  pg: 'one copy',
  'reflect-metadata': 'one copy',
  // Jest redirects each call by that name, including its own calls and those of unbundled CommonJS packages.
  'p-limit': 'Jest requires it',
  cookie: 'an unbundled package requires it',
  // Our code loads it with `require`.
  canonicalize: 'createRequire',
  // Few specs load them.
  '@jest/globals': 'Jest',
  '@lydell/node-pty': 'few specs',
  '@michaelhomer/jqjs': 'few specs',
  '@swc/core': 'few specs',
  '@tanstack/react-query': 'few specs',
  '@tanstack/react-router': 'few specs',
  ajv: 'few specs',
  'axe-core': 'few specs',
  'ajv-formats': 'few specs',
  commander: 'few specs',
  'lucide-react': 'few specs',
  openai: 'few specs',
  'playwright-core': 'few specs',
  prettier: 'few specs',
  react: 'few specs',
  sonner: 'few specs',
  typescript: 'few specs',
  // Only pages of the console load them.
  uplot: 'no spec',
  'uplot/dist/uPlot.min.css': 'no spec',
};

/** Jest's `moduleNameMapper` for third-party packages: about 50 files instead of 2,500. */
export async function thirdPartyModules() {
  const folder = await bundleOnce('third-party', '', async (scratch) => {
    const entryPoints = {};
    for (const specifier of THIRD_PARTY) {
      const file = path.join(scratch, `${fileNameOf(specifier)}.mjs`);
      await writeFile(file, reexport(specifier, await import(specifier)));
      entryPoints[fileNameOf(specifier)] = file;
    }
    return { entryPoints, splitting: true, external: ['reflect-metadata'], banner: `import 'reflect-metadata';\n` };
  });
  return Object.fromEntries(
    THIRD_PARTY.map((specifier) => [`^${escapeRegExp(specifier)}$`, path.join(folder, `${fileNameOf(specifier)}.mjs`)]),
  );
}

/**
 * The folder of `api.mjs`, `worker.mjs` and `gateway.mjs`: each server as one file, made from `dist`. These files are
 * not shipped, so some suites start `dist` itself.
 */
export function serverBundles() {
  return bundleOnce('servers', compiledFiles(), async (_scratch, folder) => ({
    entryPoints: Object.fromEntries(SERVERS.map((app) => [app, path.join(ROOT, `apps/${app}/dist/main.js`)])),
    plugins: [keepAddresses(folder), spareTime],
  }));
}

/**
 * @param madeOf a key that changes if the bundle must be created again
 * @param options esbuild's options, given a scratch folder and the folder of the bundle
 */
async function bundleOnce(name, madeOf, options) {
  const hash = createHash('sha256').update(process.version).update(madeOf);
  for (const file of ['package-lock.json', 'tools/test-runner/bundles.mjs', 'tools/bundle/modules.mjs'])
    hash.update(readFileSync(path.join(ROOT, file)));
  const folder = path.join(CACHE, `${name}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) return folder;

  const { build } = await import('esbuild');
  mkdirSync(CACHE, { recursive: true });
  const scratch = mkdtempSync(path.join(CACHE, 'bundling-'));
  try {
    const { external = [], plugins = [], banner = '', ...rest } = await options(scratch, folder);
    await build({
      outdir: path.join(scratch, 'out'),
      outExtension: { '.js': '.mjs' },
      absWorkingDir: ROOT,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: `node${process.versions.node.split('.')[0]}`,
      // Dependency injection and migrations use the names of classes.
      keepNames: true,
      // Whitespace takes time to parse, and no reader needs it here.
      minifyWhitespace: true,
      minifySyntax: true,
      legalComments: 'none',
      external: ['*.node', 'pg', 'pg-native', ...external],
      plugins: [packagesAsInNode, ...plugins],
      banner: { js: banner + COMMONJS_NAMES },
      logLevel: 'error',
      ...rest,
    });
    for (const old of readdirSync(CACHE))
      if (old.startsWith(`${name}-`)) rmSync(path.join(CACHE, old), { recursive: true, force: true });
    renameSync(path.join(scratch, 'out'), folder);
  } catch (error) {
    // Another process may have created the same bundle at the same time.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return folder;
}

/**
 * A test worker lives for seconds. Small heaps cost it a quarter of its processor time, and save memory that no test
 * needs.
 */
const spareTime = {
  name: 'spare time',
  setup(build) {
    build.onLoad({ filter: /platform\/observability\/dist\/lean-heap\.js$/ }, () => ({
      contents: 'export function growHeapWhileBusy() {}',
    }));
  },
};

/** Every compiled file with its size and time. */
function compiledFiles() {
  const lines = [];
  for (const folder of ['libs', 'apps'])
    for (const file of readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).sort())
      if (/(^|\/)dist\/.*\.js$/.test(file) && !file.startsWith('console/')) {
        const { size, mtimeMs } = statSync(path.join(ROOT, folder, file));
        lines.push(`${folder}/${file} ${size} ${mtimeMs}`);
      }
  return lines.join('\n');
}

function fileNameOf(specifier) {
  return specifier.replaceAll('/', '__');
}

function escapeRegExp(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
}
