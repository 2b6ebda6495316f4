// The contents of a bundle: its list of components (SBOM), and the licences of the packages in it.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MODULES = 'node_modules/';

const read = (file) => readFileSync(path.join(ROOT, file), 'utf8');
const { version, license } = JSON.parse(read('package.json'));
const { packages } = JSON.parse(read('package-lock.json'));

/** The packages and libraries that have a part in these outputs of esbuild, as locations in package-lock.json. */
export function locationsIn(outputs) {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  // A name with a colon is a file that a plugin wrote.
  const files = inputs.filter(([file, { bytesInOutput }]) => bytesInOutput > 0 && !file.includes(':'));
  return [...new Set(files.map(([file]) => locationOf(file)))].sort();
}

function locationOf(file) {
  for (let folder = path.dirname(file); folder !== '.'; folder = path.dirname(folder))
    if (packages[folder]) return folder;
  throw new Error(`package-lock.json has no package that ${file} belongs to`);
}

/**
 * A CycloneDX document. The base image is one component, because its own list comes with it. Without a time and with a
 * number that depends on the content only, so that two builds are equal.
 */
export function sbomOf(name, locations) {
  const root = { 'bom-ref': `slipway-${name}@${version}`, type: 'container', name: `slipway-${name}`, version };
  const base = baseImage();
  const known = new Set(locations);
  // The same package in several folders is one component.
  const byPurl = new Map(locations.map((location) => [purlAt(location), componentAt(location)]));
  const edges = new Map([...byPurl.keys()].map((purl) => [purl, new Set()]));
  for (const location of locations)
    for (const one of dependenciesOf(location, known)) edges.get(purlAt(location)).add(one);
  const components = [...[...byPurl.values()].sort((one, other) => (one.purl < other.purl ? -1 : 1)), base];
  const app = locations.find((location) => location.startsWith('apps/'));
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: serialNumberOf(components),
    version: 1,
    metadata: { component: root },
    components,
    dependencies: [
      { ref: root['bom-ref'], dependsOn: [purlAt(app), base['bom-ref']] },
      ...[...edges].map(([ref, dependsOn]) => ({ ref, dependsOn: [...dependsOn] })),
    ],
  };
}

function serialNumberOf(components) {
  const hash = createHash('sha256').update(JSON.stringify(components)).digest('hex');
  return `urn:uuid:${hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')}`;
}

function baseImage() {
  const [, image] = /^ARG NODE_IMAGE=(\S+)$/m.exec(read('docker/Dockerfile'));
  const [, name, tag, digest] = /^(.+?):([\w.-]+)(?:@(sha256:[0-9a-f]{64}))?$/.exec(image);
  const purl = `pkg:docker/${name}@${digest ?? tag}${digest ? `?tag=${tag}` : ''}`;
  return { 'bom-ref': purl, type: 'container', name, version: tag, purl };
}

function nameAt(location) {
  if (packages[location].name) return packages[location].name;
  return location.slice(location.lastIndexOf(MODULES) + MODULES.length);
}

function purlAt(location) {
  return `pkg:npm/${nameAt(location).replace('@', '%40')}@${packages[location].version}`;
}

function licenceAt(location) {
  return packages[location].license ?? (location.includes(MODULES) ? undefined : license);
}

function componentAt(location) {
  const { integrity } = packages[location];
  const own = licenceAt(location);
  const [, algorithm, hash] = /^(sha\d+)-(.+)$/.exec(integrity ?? '') ?? [];
  return {
    'bom-ref': purlAt(location),
    type: 'library',
    name: nameAt(location),
    version: packages[location].version,
    scope: 'required',
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

function dependenciesOf(location, known) {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = packages[location];
  // A library of the workspace names none: all its packages are dependencies of the root.
  const names = Object.keys({ ...peerDependencies, ...optionalDependencies, ...dependencies });
  const found = names.flatMap((name) => resolvedFrom(location, name) ?? []).filter((one) => known.has(one));
  return [...new Set(found.map(purlAt))].sort();
}

/** The licence texts of all packages among the locations, and where a package has none, the name of its licence. */
export function licencesOf(locations) {
  const foreign = locations.filter((location) => location.includes(MODULES));
  const parts = foreign.map((location) => {
    const texts = readdirSync(path.join(ROOT, location))
      .filter((file) => /^(licen[cs]e|notice|copying)([.-].*)?$/i.test(file) && !/\.(js|ts)$/.test(file))
      .sort()
      .map((file) => read(path.join(location, file)).trim());
    const heading = `${nameAt(location)} ${packages[location].version} (${licenceAt(location)})`;
    return [heading, '-'.repeat(heading.length), ...texts].join('\n\n');
  });
  return `Slipway contains code of these packages.\n\n${parts.join('\n\n\n')}\n`;
}
