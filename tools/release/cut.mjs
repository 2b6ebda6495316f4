/**
 * Cuts a release on the current branch, and publishes nothing:
 *
 *   node tools/release/cut.mjs <version> [--git-tag=false]
 *
 * 1. `nx release` writes the version and the section of CHANGELOG.md, commits `Release <version>` and tags it.
 * 2. A second commit writes the first one into .ci/previous-release, so that the upgrade test starts there from now on.
 *
 * Other options are passed to `nx release`. If the commits get other ids when they are merged, the second file must name
 * the new id of the first.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PREVIOUS = '.ci/previous-release';

const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

const [version, ...options] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+$/.test(version ?? '')) fail('Pass a version: node tools/release/cut.mjs 0.2.0');
if (git('status', '--porcelain') !== '') fail('The working tree has changes. Commit or remove them first.');
if (git('tag', '--list', `v${version}`) !== '') fail(`The tag v${version} exists already.`);

const nx = path.join(ROOT, 'node_modules/nx/dist/bin/nx.js');
execFileSync(process.execPath, [nx, 'release', version, '--skip-publish', ...options], { cwd: ROOT, stdio: 'inherit' });

const release = git('rev-parse', 'HEAD');
writeFileSync(path.join(ROOT, PREVIOUS), `${release}\n`);
git('add', PREVIOUS);
git('commit', '--quiet', `--message=ci: test upgrades from release ${version}`);
console.log(`Release ${version} is ${release}. The next upgrade test starts there.`);

function fail(message) {
  console.error(message);
  process.exit(1);
}
