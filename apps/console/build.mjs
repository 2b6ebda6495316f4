// Makes dist/ of the console, which the api serves. `npm run build` calls it. It is plain JavaScript,
// because it runs before anything is built.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const HERE = import.meta.dirname;
const ROOT = path.resolve(HERE, '../..');
const STAMP = path.join(HERE, 'dist', '.sources');
const SOURCES = [
  'apps/console/src',
  'apps/console/index.html',
  'apps/console/vite.config.mjs',
  'apps/console/request-schemas.mjs',
  'libs/contracts/src',
  'libs/sdk/src',
  'libs/sdk/openapi.json',
  'package-lock.json',
];

/** Does nothing if the sources have not changed since the last build. @returns whether it built the console */
export async function bundle() {
  const sources = fingerprint();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === sources) return false;
  const { build } = await import('vite');
  await build({ configFile: path.join(HERE, 'vite.config.mjs'), root: HERE });
  compressAssets();
  writeFileSync(STAMP, sources);
  return true;
}

/** Compresses once here, instead of at every request. */
function compressAssets() {
  const assets = path.join(HERE, 'dist', 'assets');
  for (const name of readdirSync(assets)) {
    if (!/\.(js|css|svg)$/.test(name)) continue;
    const bytes = readFileSync(path.join(assets, name));
    for (const [suffix, packed] of [
      ['.br', brotliCompressSync(bytes)],
      ['.gz', gzipSync(bytes, { level: 9 })],
    ])
      if (packed.length < bytes.length) writeFileSync(path.join(assets, name + suffix), packed);
  }
}

function fingerprint() {
  const hash = createHash('sha256').update(process.version);
  const note = (file) => {
    if (!statSync(file).isDirectory()) return void hash.update(path.relative(ROOT, file)).update(readFileSync(file));
    for (const name of readdirSync(file).sort()) note(path.join(file, name));
  };
  for (const source of SOURCES) note(path.join(ROOT, source));
  return hash.digest('hex');
}

if (process.argv[1] === import.meta.filename) await bundle();
