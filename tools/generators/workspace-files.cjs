/** Adds a line to a text whose lines from `first` on are sorted; does nothing where it stands already. */
exports.withSortedLine = function withSortedLine(text, line, isListed) {
  const lines = text.split('\n');
  if (lines.includes(line)) return text;
  const next = lines.findIndex((other) => isListed(other) && other > line);
  const last = lines.findLastIndex(isListed);
  lines.splice(next >= 0 ? next : last + 1, 0, line);
  return lines.join('\n');
};

/** Adds a project reference where it sorts; those that are there stay where they are, so that the diff is one entry. */
exports.addReference = function addReference(tree, file, path) {
  const json = JSON.parse(tree.read(file, 'utf8'));
  json.references ??= [];
  if (json.references.some((reference) => reference.path === path)) return;
  const at = json.references.findIndex((reference) => reference.path > path);
  json.references.splice(at < 0 ? json.references.length : at, 0, { path });
  tree.write(file, `${JSON.stringify(json, null, 2)}\n`);
};

/** What `npm install` would write for a new workspace package without dependencies, so that `npm ci` accepts the lock. */
exports.addToLock = function addToLock(tree, { name, version, root }) {
  if (!tree.exists('package-lock.json')) return;
  const lock = JSON.parse(tree.read('package-lock.json', 'utf8'));
  lock.packages = withKey(lock.packages, `node_modules/${name}`, { resolved: root, link: true });
  lock.packages = withKey(lock.packages, root, { name, version });
  tree.write('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
};

/** Inserted where npm sorts it, so that the next install makes no diff. */
function withKey(packages, key, value) {
  const others = Object.entries(packages).filter(([other]) => other !== key);
  const at = others.findIndex(([other]) => other !== '' && other.localeCompare(key, 'en') > 0);
  others.splice(at < 0 ? others.length : at, 0, [key, value]);
  return Object.fromEntries(others);
}
