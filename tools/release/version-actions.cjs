const { readJson, updateJson } = require('@nx/devkit');
const { default: JsVersionActions } = require('@nx/js/src/release/version-actions');
const { releaseChangelog } = require('./changelog.cjs');

const PYTHON_CLIENT = 'libs/sdk/python/pyproject.toml';

/**
 * Defines how `nx release` writes a version. It writes the manifests of released packages, as Nx does, and also the
 * workspace's own manifest, the lock file, the manifest of the Python client and CHANGELOG.md. All changes go through
 * Nx's tree, so a dry run prints them and writes nothing.
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
    if (readJson(tree, 'package.json').version !== version) releaseWorkspace(tree, version);
    return messages;
  }
};

function releaseWorkspace(tree, version) {
  const today = new Date().toISOString().slice(0, 10);
  tree.write('CHANGELOG.md', releaseChangelog(tree.read('CHANGELOG.md', 'utf8'), version, today));
  tree.write(PYTHON_CLIENT, tree.read(PYTHON_CLIENT, 'utf8').replace(/^version = .*$/m, `version = "${version}"`));
  updateJson(tree, 'package.json', (manifest) => ({ ...manifest, version }));
  updateJson(tree, 'package-lock.json', (lock) => {
    lock.version = version;
    lock.packages[''].version = version;
    return lock;
  });
}
