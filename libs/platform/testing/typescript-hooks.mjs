// For child processes of tests. Loads TypeScript from the `src` and `test` folders of a library; each file is compiled
// once and cached. Other libraries come from their `dist`, and third-party packages from the bundles that Jest also
// loads: about 50 files instead of 2,500.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { thirdPartyModules } from '../../../tools/test-runner/bundles.mjs';

const ROOT = new URL('../../../', import.meta.url);
const CACHE = fileURLToPath(new URL('node_modules/.cache/slipway-test/typescript/', ROOT));
const OPTIONS = readFileSync(new URL('.swcrc', ROOT), 'utf8');
const { transformSync, version } = createRequire(import.meta.url)('@swc/core');

const BUNDLES = Object.entries(await thirdPartyModules()).map(([pattern, file]) => [
  new RegExp(pattern),
  pathToFileURL(file).href,
]);

/** An import names the compiled file: `./a.js` means `./a.ts` here. */
export async function resolve(specifier, context, next) {
  const [, bundle] = BUNDLES.find(([pattern]) => pattern.test(specifier)) ?? [];
  // A bundle may import a package that has the name of the bundle.
  const isOurs = !context.parentURL?.includes('/node_modules/');
  if (bundle && isOurs) return { url: bundle, format: 'module', shortCircuit: true };
  if (specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL?.endsWith('.ts')) {
    const source = new URL(`${specifier.slice(0, -3)}.ts`, context.parentURL);
    if (existsSync(source)) return { url: source.href, format: 'module', shortCircuit: true };
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  return { source: compiled(fileURLToPath(url)), format: 'module', shortCircuit: true };
}

function compiled(file) {
  const source = readFileSync(file, 'utf8');
  const key = createHash('sha256').update([version, OPTIONS, file, source].join('\0')).digest('hex');
  const entry = path.join(CACHE, `${key}.js`);
  if (existsSync(entry)) return readFileSync(entry, 'utf8');
  const { code } = transformSync(source, { ...JSON.parse(OPTIONS), swcrc: false, configFile: false, filename: file });
  mkdirSync(CACHE, { recursive: true });
  // Several processes may compile the same file at once.
  const scratch = `${entry}.${process.pid}`;
  writeFileSync(scratch, code);
  renameSync(scratch, entry);
  return code;
}
