// How esbuild joins our modules and those of packages, for the bundles that images contain and for those of tests.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** The names that Node gives every CommonJS module. */
export const COMMONJS_NAMES = `import { createRequire as slipwayCreateRequire } from 'node:module';
import { fileURLToPath as slipwayFileURLToPath } from 'node:url';
const require = slipwayCreateRequire(import.meta.url);
const __filename = slipwayFileURLToPath(import.meta.url);
const __dirname = slipwayFileURLToPath(new URL('.', import.meta.url));`;

/** The repository. */
export const ROOT = path.resolve(import.meta.dirname, '../..');

const NAMED = 'named exports';

/** Files that use `import.meta`: ours, and those of Nest. Each file that a plugin reads takes time. */
const WITH_ADDRESSES = /\/(apps|libs)\/.*\/dist\/.*\.js$|\/@nestjs\/.*\.js$/;

/**
 * An optional dependency that is not installed stays a `require` or an `import()`, which fails only when it is called.
 * A dynamic import of a CommonJS package has its exports as names, as in Node: esbuild gives it a default export only,
 * if it splits the bundle.
 */
export const packagesAsInNode = {
  name: 'packages as in Node',
  setup(build) {
    const inner = Symbol('inner');
    build.onResolve({ filter: /^[^./]/ }, async ({ path: specifier, kind, resolveDir, importer, pluginData }) => {
      if (pluginData === inner) return undefined;
      const found = await build.resolve(specifier, { kind, resolveDir, importer, pluginData: inner });
      if (found.errors.length > 0) return { path: specifier, external: true };
      if (kind !== 'dynamic-import' || !isCommonJs(found)) return found;
      // esbuild writes it into the bundle, which is the same in every folder.
      return { path: path.relative(ROOT, found.path), namespace: NAMED };
    });
    build.onLoad({ filter: /./, namespace: NAMED }, async (args) => {
      const file = path.join(ROOT, args.path);
      return { contents: reexport(file, await import(pathToFileURL(file).href)), resolveDir: path.dirname(file) };
    });
  },
};

function isCommonJs({ path: file, external }) {
  if (external || !file.includes('/node_modules/') || !/\.c?js$/.test(file)) return false;
  return !/^(import|export)\b/m.test(readFileSync(file, 'utf8'));
}

/**
 * Lets each module find its assets by its own address, relative to `root`.
 * @param folder of the bundle
 * @param root the folder that has the role of the repository for these addresses
 */
export function keepAddresses(folder, root = ROOT) {
  return {
    name: 'keep addresses',
    setup(build) {
      build.onLoad({ filter: WITH_ADDRESSES }, (args) => {
        const source = readFileSync(args.path, 'utf8');
        if (!source.includes('import.meta.')) return undefined;
        const at = path.join(root, path.relative(ROOT, args.path));
        const url = `new URL(${JSON.stringify(path.relative(folder, at))}, import.meta.url)`;
        const contents = withVisibleRequire(source)
          .replaceAll('import.meta.url', `${url}.href`)
          .replaceAll('import.meta.dirname', `slipwayFileURLToPath(new URL('.', ${url}))`)
          .replaceAll('import.meta.filename', `slipwayFileURLToPath(${url})`);
        return { contents, loader: 'js' };
      });
    },
  };
}

/**
 * esbuild follows `require` but not a `require` that the module makes. Without this, packages of Nest would look for
 * class-validator in the folder of the bundle, and silently validate nothing if it is not there.
 */
function withVisibleRequire(source) {
  return source
    .replaceAll(/^const require = createRequire\(import\.meta\.url\);$/gm, '')
    .replaceAll(/\bcreateRequire\(import\.meta\.url\)\((['"])([@a-z][\w@/.-]*)\1\)/g, 'require($1$2$1)');
}

/** `export *` misses names of a CommonJS package that exist only at run time. */
export function reexport(specifier, module) {
  const names = Object.keys(module).filter((name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default');
  const from = JSON.stringify(specifier);
  const lines = [names.length > 0 ? `export { ${names.join(', ')} } from ${from};` : `import ${from};`];
  if ('default' in module) lines.push(`export { default } from ${from};`);
  return lines.join('\n');
}
