import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { WorkspaceCopy } from '@slipway/platform-testing/workspace-copy';

jest.setTimeout(300_000);

const NX = 'nx/dist/bin/nx.js';
const VERSION = '98.76.54';
const RELEASED = ['apps/api', 'apps/cli', 'apps/console', 'apps/gateway', 'apps/worker', 'libs/sdk'];
const WRITTEN = [
  'CHANGELOG.md',
  'package-lock.json',
  'package.json',
  'deploy/helm/slipway/Chart.yaml',
  'deploy/helm/slipway/README.md',
  'deploy/kubernetes/migrate.yaml',
  'deploy/kubernetes/models.yaml',
  'deploy/kubernetes/slipway.yaml',
  'libs/sdk/python/pyproject.toml',
  ...RELEASED.map((root) => `${root}/package.json`),
].sort();
let workspace: WorkspaceCopy;

const git = (...args: string[]) => execFileSync('git', args, { cwd: workspace.dir, encoding: 'utf8' }).trim();
const textOf = (file: string) => readFile(path.join(workspace.dir, file), 'utf8');

beforeAll(async () => {
  workspace = await WorkspaceCopy.make();
  // The repository's own changelog is empty right after a release.
  await writeFile(path.join(workspace.dir, 'CHANGELOG.md'), '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- this\n');
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'a');
  git('config', 'user.email', 'a@example.com');
  git('config', 'commit.gpgsign', 'false');
  git('config', 'tag.gpgsign', 'false');
  git('add', '.');
  git('commit', '--quiet', '--message=All');
});
afterAll(() => workspace?.remove());

it('a dry run prints what a release would write, and writes nothing', async () => {
  const output = await workspace.run(NX, 'release', VERSION, '--dry-run', '--skip-publish');
  const updated = [...output.matchAll(/^UPDATE (\S+) \[dry-run\]$/gm)].map(([, file]) => file);
  expect(updated.sort()).toEqual(WRITTEN);
  expect(output).toMatch(/^\+ +"version": "98\.76\.54",$/m);
  expect(output).toMatch(/^\+ ## \[98\.76\.54\] - \d{4}-\d\d-\d\d$/m);
  expect(git('status', '--porcelain')).toBe('');
  expect(git('tag')).toBe('');
});

it('the first release has the version that the manifests already have: only the changelog changes', async () => {
  const { version } = JSON.parse(await textOf('package.json')) as { version: string };
  const output = await workspace.run(NX, 'release', version, '--dry-run', '--skip-publish');
  expect([...output.matchAll(/^UPDATE (\S+) \[dry-run\]$/gm)].map(([, file]) => file)).toEqual(['CHANGELOG.md']);
  expect(output).toContain(`+ ## [${version}] - `);
});

it('a release writes one version everywhere, commits and tags it, and publishes nothing', async () => {
  await workspace.run(NX, 'release', VERSION, '--skip-publish');
  expect(git('show', '--name-only', '--format=%s').split(/\n+/)).toEqual([`Release ${VERSION}`, ...WRITTEN]);
  expect(git('tag', '--points-at', 'HEAD')).toBe(`v${VERSION}`);
  expect(git('status', '--porcelain')).toBe('');
  // Any other number of changed lines would mean that a formatter has moved some.
  expect(git('diff', '--shortstat', 'HEAD^', '--', '*.json')).toMatch(/ 15 insertions\(\+\), 15 deletions\(-\)$/);
  for (const root of ['.', ...RELEASED]) {
    const { version, private: isPrivate } = JSON.parse(await textOf(`${root}/package.json`));
    expect({ root, version, isPrivate }).toEqual({ root, version: VERSION, isPrivate: true });
  }
  expect(await textOf('libs/sdk/python/pyproject.toml')).toContain(`\nversion = "${VERSION}"\n`);
  const chart = await textOf('deploy/helm/slipway/Chart.yaml');
  expect(chart).toContain(`\nversion: ${VERSION}\nappVersion: '${VERSION}'\n`);
  const manifests = await textOf('deploy/kubernetes/slipway.yaml');
  const versions = [...manifests.matchAll(/(?:\/version: |image: slipway-\w+:)(\S+)/g)].map(([, one]) => one);
  expect([versions.length > 5, new Set(versions)]).toEqual([true, new Set([VERSION])]);
  const { version, packages } = JSON.parse(await textOf('package-lock.json'));
  expect([version, ...['', ...RELEASED].map((root) => packages[root].version)]).toEqual(Array(8).fill(VERSION));
  expect(await textOf('CHANGELOG.md')).toMatch(
    /## \[Unreleased\]\n\n## \[98\.76\.54\] - [\d-]{10}\n\n### Added\n\n- this\n$/,
  );
});

it('refuses a release if CHANGELOG.md has no entry for it', async () => {
  const { code, output } = await workspace.attempt(NX, ['release', '98.76.55', '--dry-run', '--skip-publish']);
  expect(output).toContain('CHANGELOG.md has no entries under "## [Unreleased]"');
  expect(code).not.toBe(0);
});

it('cut.mjs also lets the next upgrade test start at the release', async () => {
  const cut = (...options: string[]) => workspace.attempt('../tools/release/cut.mjs', options);
  await writeFile(path.join(workspace.dir, 'CHANGELOG.md'), '# Changelog\n\n## [Unreleased]\n\n- that\n');
  expect(await cut('98.76.56')).toMatchObject({ code: 1, output: expect.stringContaining('has changes') });
  git('commit', '--quiet', '--all', '--message=That');
  expect(await cut('next')).toMatchObject({ code: 1, output: expect.stringContaining('Pass a version') });
  expect(await cut(VERSION)).toMatchObject({ code: 1, output: expect.stringContaining(`v${VERSION} exists already`) });
  expect(await cut('98.76.56')).toMatchObject({ code: 0 });
  const release = git('rev-parse', 'HEAD^');
  expect(git('show', '--no-patch', '--format=%s', release)).toBe('Release 98.76.56');
  expect(git('tag', '--points-at', release)).toBe('v98.76.56');
  expect(git('show', 'HEAD:.ci/previous-release')).toBe(release);
  expect(git('show', '--name-only', '--format=%s', 'HEAD').split(/\n+/)).toEqual([
    'ci: test upgrades from release 98.76.56',
    '.ci/previous-release',
  ]);
  expect(git('status', '--porcelain')).toBe('');
});
