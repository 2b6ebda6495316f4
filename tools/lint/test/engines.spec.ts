import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, it } from '@jest/globals';

interface Package {
  engines?: { node?: string };
  optional?: boolean;
}

const semver = createRequire(import.meta.url)('semver') as { satisfies(version: string, range: string): boolean };
const read = (file: string): unknown => JSON.parse(readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8'));

/** The oldest version of each release line that package.json allows, and some versions in common use. */
const VERSIONS = ['20.19.0', '20.20.2', '22.13.0', '22.22.0', '24.11.0', '24.12.0'];

it.each(VERSIONS)(
  'npm ci on Node %s warns about no package, because every package in the lock supports it',
  (version) => {
    const { packages } = read('package-lock.json') as { packages: Record<string, Package> };
    const warned = Object.entries(packages)
      // A package for other systems is not installed, and npm does not warn about it.
      .filter(([, { engines, optional }]) => engines?.node && !optional && !semver.satisfies(version, engines.node))
      .map(([name, { engines }]) => `${name} (${engines?.node})`);
    expect(warned).toEqual([]);
  },
);

it('package.json allows exactly the versions that the check above uses', () => {
  const node = (read('package.json') as Package).engines?.node ?? '';
  expect(VERSIONS.filter((version) => !semver.satisfies(version, node))).toEqual([]);
  for (const other of ['18.20.8', '20.18.3', '22.12.0', '24.10.0']) expect(semver.satisfies(other, node)).toBe(false);
});
