const { existsSync, lstatSync, mkdirSync, rmSync, symlinkSync } = require('node:fs');
const path = require('node:path');
const { logger } = require('@nx/devkit');

/** Adds a project reference in sorted order. The rest of the file stays unchanged, so that the diff is one line. */
exports.addReference = function addReference(tree, file, to) {
  const text = tree.read(file, 'utf8');
  const listed = [...text.matchAll(/\{\s*"path":\s*"([^"]+)"\s*\}/g)];
  if (listed.some(([, path]) => path === to)) return;
  const entry = `{ "path": "${to}" }`;
  const next = listed.find(([, path]) => path > to);
  const last = listed.at(-1);
  if (!last) throw new Error(`${file} has no references: add ${to} by hand`);
  const at = next ? next.index : last.index + last[0].length;
  tree.write(file, text.slice(0, at) + (next ? `${entry},\n    ` : `,\n    ${entry}`) + text.slice(at));
};

/**
 * Adds what `npm install` would write for a new workspace package without dependencies, so that `npm ci` accepts the
 * lock.
 */
exports.addToLock = function addToLock(tree, { name, version, root }) {
  if (!tree.exists('package-lock.json')) return;
  const lock = JSON.parse(tree.read('package-lock.json', 'utf8'));
  lock.packages = withKey(lock.packages, `node_modules/${name}`, { resolved: root, link: true });
  lock.packages = withKey(lock.packages, root, { name, version });
  tree.write('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
};

/** Inserted in npm's sort order, so that the next install causes no diff. */
function withKey(packages, key, value) {
  const others = Object.entries(packages).filter(([other]) => other !== key);
  const at = others.findIndex(([other]) => other !== '' && other.localeCompare(key, 'en') > 0);
  others.splice(at < 0 ? others.length : at, 0, [key, value]);
  return Object.fromEntries(others);
}

/** Does what npm would do at the next install, without a network. */
exports.link = function link(workspace, name, root) {
  const at = path.join(workspace, 'node_modules', name);
  try {
    mkdirSync(path.dirname(at), { recursive: true });
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(at);
    if (!existsSync(at)) symlinkSync(path.relative(path.dirname(at), path.join(workspace, root)), at, 'junction');
  } catch (error) {
    logger.warn(`node_modules/${name} was not linked (${error.message}): run npm install`);
  }
};
