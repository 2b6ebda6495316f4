/**
 * Lints the files of this folder; most machines on which they are edited have no Docker engine.
 *
 *   node docker/lint.mjs
 *
 * It runs dockerfilelint on Dockerfiles, dclint (which knows the Compose schema) on compose.yaml, and `bash -n` on the
 * init script. It also checks promises of this folder that these linters do not know: a .dockerignore for each
 * Dockerfile, no variable in compose.yaml that is missing in .env.example, and the rules of dockerfile-rules.mjs and
 * compose-rules.mjs.
 * Every problem is one line. Exits with 1 if there is any, warnings included.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { composeProblems, mountsOf, variablesOf } from './compose-rules.mjs';
import { dockerfileProblems, instructionsIn, targetsIn, valuesOf } from './dockerfile-rules.mjs';

const folder = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);
const problems = [];
const fail = (file, text) => problems.push(`docker/${file}: ${text}`);
const read = (file) => readFileSync(join(folder, file), 'utf8');

/** The linters run as commands, as people run them; their JSON output is their stable interface. */
function lintWith(name, args) {
  const manifest = require.resolve(`${name}/package.json`);
  const command = join(dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin[name]);
  const { stdout, stderr, error } = spawnSync(process.execPath, [command, ...args], { cwd: folder, encoding: 'utf8' });
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`${name} ${args.join(' ')} gave no JSON: ${error ?? stderr}`);
  }
}

function lintDockerfile(file) {
  const report = lintWith('dockerfilelint', ['--output', 'json', file]);
  for (const { issues } of report.files)
    // The linter takes a variable or another stage for an image without a tag. `lintBase` checks real ones.
    for (const issue of issues.filter(({ title }) => title !== 'Base Image Missing Tag'))
      fail(`${file}:${issue.line}`, `${issue.title}: ${issue.description}`);

  const text = read(file);
  const stages = valuesOf('FROM', instructionsIn(text));
  if (!existsSync(join(folder, `${file}.dockerignore`))) fail(file, 'has no .dockerignore next to it');
  for (const problem of dockerfileProblems(text)) fail(file, problem);
  const defaults = valuesOf('ARG', instructionsIn(text)).map((value) => value.split('='));
  for (const stage of stages) {
    const [image] = stage.split(' ');
    const [, value = image] = defaults.find(([name]) => image === `\${${name}}`) ?? [];
    lintBase(file, value, stages);
  }
}

function lintBase(file, image, stages) {
  if (stages.some((stage) => stage.endsWith(` AS ${image}`))) return;
  if (!/:\S+/.test(image)) fail(file, `builds on an image without a tag: ${image}`);
}

function lintIgnoreFile(file) {
  const rules = read(file)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (rules[0] !== '*') fail(file, 'must begin with `*`, so that a build sees only what is named');
  for (const rule of ['**/node_modules', '**/.env', '**/.env.*'])
    if (!rules.includes(rule)) fail(file, `must leave out ${rule}`);
}

function lintCompose(file) {
  const [report] = lintWith('dclint', ['--formatter', 'json', file]);
  for (const message of report.messages) fail(`${file}:${message.line}`, `${message.message} (${message.rule})`);

  const source = read(file);
  const { services } = parse(source, { merge: true });
  for (const problem of composeProblems(source)) fail(file, problem);
  const described = new Set([...read('.env.example').matchAll(/^#? ?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name));
  for (const [, name] of source.matchAll(/\$\{([A-Z][A-Z0-9_]*)/g))
    if (!described.has(name)) fail(file, `${name} is not in .env.example`);
  for (const [name, service] of Object.entries(services)) {
    if (service.container_name) fail(file, `${name} has a fixed container_name, so it cannot be scaled`);
    for (const [variable] of variablesOf(service)) {
      if (variable.startsWith('SLIPWAY_') && !described.has(variable))
        fail(file, `${variable} of ${name} is not in .env.example`);
    }
    for (const from of mountsOf(service)) {
      if (from.startsWith('./') && !existsSync(join(folder, from)))
        fail(file, `${name} mounts ${from}, which does not exist`);
    }
    const { dockerfile, target } = service.build ?? {};
    if (dockerfile && !existsSync(join(folder, '..', dockerfile)))
      fail(file, `${name} builds ${dockerfile}, which does not exist`);
    else if (dockerfile && !targetsIn(read(dockerfile.replace('docker/', ''))).has(target))
      fail(file, `${name} builds ${target}, which is not an image of ${dockerfile}`);
  }
}

function lintScript(file) {
  const { status, stderr, error } = spawnSync('bash', ['-n', file], { cwd: folder, encoding: 'utf8' });
  if (status !== 0) fail(file, error ? `bash -n could not run: ${error.message}` : stderr.trim());
}

const files = readdirSync(folder).sort();
const linted = {
  Dockerfile: lintDockerfile,
  '.dockerignore': lintIgnoreFile,
  'compose.yaml': lintCompose,
  '.sh': lintScript,
};
let count = 0;
for (const [ending, lint] of Object.entries(linted)) {
  const matching = files.filter((file) => file.endsWith(ending));
  if (matching.length === 0) fail('', `has no *${ending}`);
  for (const file of matching) lint(file);
  count += matching.length;
}

for (const problem of problems) console.error(problem);
console.log(`${count} files linted, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);
