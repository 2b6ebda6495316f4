const { readJson, updateJson } = require('@nx/devkit');
const { default: JsVersionActions } = require('@nx/js/src/release/version-actions');
const { releaseChangelog } = require('./changelog.cjs');

const PYTHON_CLIENT = 'libs/sdk/python/pyproject.toml';
/** Folders whose files name the version of the images: the chart, and the manifests that it renders. */
const DEPLOYMENTS = ['deploy/helm/slipway', 'deploy/kubernetes'];

/** The trees whose workspace has its version, one for each run of Nx. */
const released = new WeakSet();

/**
 * Defines how `nx release` writes a version. It writes the manifests of released packages, as Nx does, and also the
 * workspace's own manifest, the lock file, the manifest of the Python client, the chart with its manifests, and
 * CHANGELOG.md. All changes go through Nx's tree, so a dry run prints them and writes nothing.
 */
module.exports = class ProductVersionActions extends JsVersionActions {
  async updateProjectVersion(tree, version) {
    const messages = await super.updateProjectVersion(tree, version);
    const { root } = this.projectGraphNode.data;
    updateJson(tree, 'package-lock.json', (lock) => {
      lock.packages[root].version = version;
      return lock;
    });
    // The projects of a release are one group with one version: the first of them also releases the workspace.
    if (!released.has(tree)) releaseWorkspace(tree, version);
    released.add(tree);
    return messages;
  }
};

function releaseWorkspace(tree, version) {
  const today = new Date().toISOString().slice(0, 10);
  const previous = readJson(tree, 'package.json').version;
  tree.write('CHANGELOG.md', releaseChangelog(tree.read('CHANGELOG.md', 'utf8'), version, today));
  tree.write(PYTHON_CLIENT, tree.read(PYTHON_CLIENT, 'utf8').replace(/^version = .*$/m, `version = "${version}"`));
  for (const folder of DEPLOYMENTS) {
    for (const name of tree.children(folder)) {
      const file = `${folder}/${name}`;
      if (!tree.isFile(file) || !/\.(ya?ml|md)$/.test(name)) continue;
      const text = tree.read(file, 'utf8');
      const next = withVersion(text, previous, version);
      if (next !== text) tree.write(file, next);
    }
  }
  updateJson(tree, 'package.json', (manifest) => ({ ...manifest, version }));
  updateJson(tree, 'package-lock.json', (lock) => {
    lock.version = version;
    lock.packages[''].version = version;
    return lock;
  });
}

/** Replaces the version of the product where it is the version of the chart, of a label, or of one of our images. */
function withVersion(text, previous, version) {
  const before = String.raw`^version: |^appVersion: |app\.kubernetes\.io/version: |slipway-(?:api|worker|gateway):`;
  const old = previous.replaceAll('.', String.raw`\.`);
  return text.replace(new RegExp(`(${before})('?)${old}(?![\\w.-])`, 'gm'), `$1$2${version}`);
}
