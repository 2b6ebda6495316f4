import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { parse } from 'yaml';

interface Job {
  permissions?: Record<string, string>;
  environment?: string;
  needs?: string | string[];
  strategy?: { matrix: Record<string, string[]> };
  steps: { name?: string; id?: string; uses?: string; run?: string }[];
}

const ROOT = path.resolve(import.meta.dirname, '../../..');
const workflow = parse(readFileSync(path.join(ROOT, '.github/workflows/release.yml'), 'utf8')) as {
  permissions: Record<string, string>;
  jobs: Record<'files' | 'images' | 'publish', Job>;
};
const { files, images, publish } = workflow.jobs;
const scripts = Object.values(workflow.jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));

const folder = mkdtempSync(path.join(tmpdir(), 'slipway-workflow-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('has only scripts that a shell can read, and files that exist', () => {
  expect(scripts.length).toBeGreaterThan(10);
  for (const script of scripts) execFileSync('bash', ['-n'], { input: script });
  const named = scripts.flatMap((script) => [...script.matchAll(/\bnode (tools\/\S+)/g)].map(([, file]) => file!));
  expect(named.length).toBeGreaterThan(0);
  for (const file of named) expect([file, existsSync(path.join(ROOT, file))]).toEqual([file, true]);
  expect(scripts.join('\n')).toContain('--file docker/Dockerfile --target "$APP"');
  const targets = readFileSync(path.join(ROOT, 'docker/Dockerfile'), 'utf8').matchAll(/^FROM \S+ AS (\w+)$/gm);
  expect([...targets].map(([, name]) => name)).toEqual(expect.arrayContaining(images.strategy!.matrix['app']!));
});

it('publishes packages only after an approval, and gives no other job the identity for it', () => {
  expect(workflow.permissions).toEqual({ contents: 'read' });
  expect(publish).toMatchObject({ environment: 'release', needs: ['files', 'images'] });
  expect(publish.permissions).toMatchObject({ 'id-token': 'write' });
  for (const job of [files, images]) expect(job.permissions ?? {}).not.toHaveProperty('id-token');
  const [first] = publish.steps.flatMap(({ run }) =>
    run && /sha256sum --check|\bpublish\b|\bpush\b/.test(run) ? [run] : [],
  );
  // The published files must be the ones that the other job made.
  expect(first).toContain('sha256sum --check --strict SHA256SUMS');
});

/** Runs a step in a folder with these files. */
function step(job: Job, id: string, env: Record<string, string>, content: Record<string, string>) {
  const cwd = mkdtempSync(path.join(folder, 'step-'));
  for (const [file, text] of Object.entries(content)) {
    mkdirSync(path.dirname(path.join(cwd, file)), { recursive: true });
    writeFileSync(path.join(cwd, file), text, { mode: 0o755 });
  }
  const { run } = job.steps.find((one) => one.id === id || one.name === id)!;
  const output = path.join(cwd, 'output');
  // As GitHub runs it.
  const result = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run!], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], GITHUB_OUTPUT: output, ...env },
  });
  return { ...result, output: existsSync(output) ? readFileSync(output, 'utf8') : '', cwd };
}

it('refuses a tag that is not the version, and a version without a section in the changelog', () => {
  const content = { 'package.json': '{"version":"1.2.3"}', 'CHANGELOG.md': '# Changelog\n\n## [1.2.3] - 2020-01-01\n' };
  expect(step(files, 'version', { GITHUB_REF_NAME: 'v1.2.3' }, content)).toMatchObject({
    status: 0,
    output: 'version=1.2.3\n',
  });
  expect(step(files, 'version', { GITHUB_REF_NAME: 'v1.2.4' }, content).status).toBe(1);
  const without = { ...content, 'CHANGELOG.md': '# Changelog\n\n## [Unreleased]\n' };
  expect(step(files, 'version', { GITHUB_REF_NAME: 'v1.2.3' }, without)).toMatchObject({
    status: 1,
    stdout: 'CHANGELOG.md has no section for 1.2.3\n',
  });
});

it('makes the notes of the release and the Compose file from what was built', () => {
  const digest = (app: string): string => `ghcr.io/a/slipway-${app}:1.2.3@sha256:${'0'.repeat(64)}`;
  const content = {
    'CHANGELOG.md':
      '# Changelog\n\n## [Unreleased]\n\n- later\n\n## [1.2.3] - 2020-01-01\n\n### Added\n\n- this\n\n## [1.2.2]\n\n- old\n',
    'python/slipway_sdk-1.2.3-py3-none-any.whl': '',
    'release/SHA256SUMS': '',
    // Prints its arguments in place of a release on GitHub.
    'bin/gh': '#!/bin/sh\necho "$@"\n',
    ...Object.fromEntries(['api', 'worker', 'gateway'].map((app) => [`digests/${app}`, `${digest(app)}\n`])),
  };
  const { run } = publish.steps.find(({ name }) => name === 'release on GitHub')!;
  expect(run).toContain('gh release create');
  const made = step(
    publish,
    'release on GitHub',
    { VERSION: '1.2.3', GITHUB_REF_NAME: 'v1.2.3', PATH: `bin:${process.env['PATH']}` },
    content,
  );
  expect([made.status, made.stderr]).toEqual([0, '']);
  expect(made.stdout).toMatch(/^release create v1\.2\.3 --verify-tag .* release\/SHA256SUMS/);
  const at = (file: string): string => readFileSync(path.join(made.cwd, file), 'utf8');
  expect(at('notes.md')).toBe('\n### Added\n\n- this\n\n');
  const { services } = parse(at('release/compose.release.yaml'), {
    customTags: [{ tag: '!reset', resolve: () => null }],
  }) as { services: Record<string, { image: string }> };
  for (const app of ['api', 'worker', 'gateway']) expect(services[app]!.image).toBe(digest(app));
  execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: path.join(made.cwd, 'release') });
});
