import path from 'node:path';

const IMPORT =
  /(?:^|[\s;}])(import|export)\s+(?:type\s+)?(\*(?:\s+as\s+\w+)?|[\w$]+(?:\s*,\s*\{[^}]*\})?|\{[^}]*\})\s+from\s+['"]([^'"]+)['"]/g;
const BARE = /(?:^|[\s;])import\s+['"]([^'"]+)['"]/g;
const INLINE = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;
const DECLARED = /^export (?:declare )?(?:default )?(?:async )?(?:abstract )?(?:const enum|function\*?|[a-z]+) (\w+)/gm;
/** A program that is started by its path: `fork(new URL('./child.js', …))`, `node tools/bench/dist/main.js`. */
const STARTED = /(?<!from\s)(?<!import\s)(?<!import\()['"](\.{1,2}\/[\w./-]+\.(?:m?js|tsx?))['"]/g;
const BUILT = /(?<![\w.@/-])([\w.@/-]*)\bdist\/([\w./-]+)\.m?js/g;
const STARTERS = /\.(?:m?ts|tsx|mjs|cjs|ya?ml|sh)$|(?:^|\/)package\.json$|Dockerfile|^\.ci\/\w+$/;

/**
 * The imports between product files in the whole workspace. Type imports count. A name that is imported from a package
 * also counts for the file that declares it, and every `index.ts` in between counts as an importer.
 */
export function readImports(workspace) {
  const products = new Set(workspace.products);
  const packages = packagesOf(workspace);
  const statements = new Map(workspace.products.map((file) => [file, statementsIn(workspace.text(file))]));
  const importers = new Map();

  function resolve(from, specifier) {
    if (specifier.startsWith('.')) return fileAt(path.posix.join(path.posix.dirname(from), specifier), products);
    const [scope, name, ...rest] = specifier.split('/');
    return packages.get(`${scope}/${name}`)?.(rest.join('/'));
  }
  function note(target, file) {
    if (target === file) return;
    if (!importers.has(target)) importers.set(target, new Set());
    importers.get(target).add(file);
  }
  /** Follows a name through the re-exports of `target` to the file that declares it. */
  function follow(target, name, file, seen = new Set()) {
    if (seen.has(target)) return;
    seen.add(target);
    for (const { kind, names, specifier } of statements.get(target) ?? []) {
      if (kind !== 'export') continue;
      const next = resolve(target, specifier);
      if (!next || !products.has(next)) continue;
      const renamed = names?.find(([, alias]) => alias === name);
      if (renamed) {
        note(next, file);
        follow(next, renamed[0], file, seen);
      } else if (!names && declaresOrReexports(next, name)) {
        note(next, file);
        follow(next, name, file, seen);
      }
    }
  }
  const declared = new Map();
  function declaresOrReexports(file, name) {
    if (!declared.has(file))
      declared.set(file, new Set([...workspace.text(file).matchAll(DECLARED)].map(([, one]) => one)));
    return declared.get(file).has(name) || statements.get(file).some(({ kind }) => kind === 'export');
  }

  for (const [file, list] of statements)
    for (const { names, specifier, kind } of list) {
      const target = resolve(file, specifier);
      if (!target || !products.has(target)) continue;
      note(target, file);
      // The importers of a re-export are followed separately.
      if (kind === 'import') for (const [name] of names ?? []) follow(target, name, file);
    }
  return { importers, started: startedFiles(workspace, products), entries: entriesOf(workspace) };
}

function statementsIn(text) {
  const found = [];
  for (const [, kind, clause, specifier] of text.matchAll(IMPORT)) {
    const list = /\{([^{}]*)\}/.exec(clause)?.[1];
    const names = list
      ?.split(',')
      .map((one) => one.trim().replace(/^type /, ''))
      .filter(Boolean)
      .map((one) => {
        const [name, alias = name] = one.split(/(?<!\s)\s+as\s+/);
        return [name, alias];
      });
    found.push({ kind, names, specifier });
  }
  for (const [, specifier] of [...text.matchAll(BARE), ...text.matchAll(INLINE)])
    found.push({ kind: 'import', names: undefined, specifier });
  return found;
}

function fileAt(target, files) {
  const stem = target.replace(/\.js$/, '');
  return [target, `${stem}.ts`, `${stem}.tsx`, `${stem}/index.ts`].find((one) => files.has(one));
}

const manifests = (workspace) => workspace.files.filter((file) => /^(?:apps|libs|tools)\/.*package\.json$/.test(file));
const targetOf = (value) => (typeof value === 'string' ? value : value?.['@slipway/source']);

/** Maps the subpaths of packages to source files. */
function packagesOf(workspace) {
  const packages = new Map();
  for (const manifest of manifests(workspace)) {
    const { name, exports = {} } = JSON.parse(workspace.text(manifest) ?? '{}');
    const folder = path.posix.dirname(manifest);
    packages.set(name, (sub) => {
      const key = sub ? `./${sub}` : '.';
      const direct = targetOf(exports[key]);
      if (direct) return path.posix.join(folder, direct);
      for (const [pattern, value] of Object.entries(exports)) {
        const [head, tail] = pattern.split('*');
        if (tail === undefined || !key.startsWith(head) || !key.endsWith(tail)) continue;
        const star = key.slice(head.length, key.length - tail.length);
        return path.posix.join(folder, (targetOf(value) ?? '').replace('*', star));
      }
      return undefined;
    });
  }
  return packages;
}

/** The files that a package.json exports by name. */
function entriesOf(workspace) {
  const entries = new Set();
  for (const manifest of manifests(workspace)) {
    const { exports = {} } = JSON.parse(workspace.text(manifest) ?? '{}');
    const folder = path.posix.dirname(manifest);
    for (const value of Object.values(exports)) {
      const target = targetOf(value);
      if (target && !target.includes('*')) entries.add(path.posix.join(folder, target));
    }
  }
  return entries;
}

function startedFiles(workspace, products) {
  const started = new Set();
  const note = (target) => {
    const file = fileAt(target, products);
    if (file) started.add(file);
  };
  for (const file of workspace.files.filter((one) => STARTERS.test(one))) {
    const text = workspace.text(file);
    if (text === undefined) continue;
    const folder = path.posix.dirname(file);
    for (const [, target] of text.matchAll(STARTED)) note(path.posix.join(folder, target));
    for (const [, before, name] of text.matchAll(BUILT)) {
      note(path.posix.join(before, 'src', name));
      note(path.posix.join(folder, before, 'src', name));
    }
  }
  return started;
}
