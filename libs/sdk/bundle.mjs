// Makes the SDK's dist/ self-contained: copies the compiled contracts that it re-exports to dist/contracts/, and points
// the imports there. `npm run build` calls it after the compiler. Plain JavaScript, because it runs before anything is
// built.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const DIST = path.join(import.meta.dirname, 'dist');
const CONTRACTS = path.join(import.meta.dirname, '../contracts/dist');

export function bundle() {
  mkdirSync(path.join(DIST, 'contracts'), { recursive: true });
  for (const ending of ['.js', '.d.ts']) {
    const file = path.join(DIST, `contracts${ending}`);
    const text = readFileSync(file, 'utf8');
    // For a project that references the SDK, the compiler resolves this path from src/contracts.ts, so it must lead to
    // the copy from there too.
    const bundled = text.replace(/'@slipway\/contracts\/([\w-]+)'/g, "'../dist/contracts/$1.js'");
    if (bundled !== text) writeFileSync(file, bundled);
    for (const [, name] of bundled.matchAll(/'\.\.\/dist\/contracts\/([\w-]+)\.js'/g))
      copyFileSync(path.join(CONTRACTS, name + ending), path.join(DIST, 'contracts', name + ending));
  }
}

if (process.argv[1] === import.meta.filename) bundle();
