// Generates slipway_sdk/ from the committed OpenAPI document with openapi-python-client. Run it as
// `npm run python-client`. Exit status 3: Python is missing; the folder stays unchanged. Any other failure is an error
// of the document or of the generator.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { separateAnswers } from '../answer-schemas.mjs';

const HERE = import.meta.dirname;
const PACKAGE = path.join(HERE, 'slipway_sdk');
const MISSING = 3;
const SECONDS = 300;

const scratch = mkdtempSync(path.join(os.tmpdir(), 'slipway-python-'));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));

const generated = path.join(scratch, 'slipway_sdk');
generate(generated, environment());
rmSync(PACKAGE, { recursive: true, force: true });
cpSync(generated, PACKAGE, { recursive: true });

function environment() {
  if (process.env.SLIPWAY_TEST_PYTHON) return process.env.SLIPWAY_TEST_PYTHON;
  const { status, stdout } = spawnSync(process.execPath, [path.join(HERE, 'environment.mjs')], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) process.exit(status === MISSING ? MISSING : 1);
  return stdout.trim();
}

function generate(folder, tools) {
  const document = path.join(scratch, 'openapi.json');
  const config = path.join(scratch, 'config.json');
  writeFileSync(document, JSON.stringify(documentForPython()));
  // The project settings of ruff must not depend on the location of this project.
  const ruff = (command) => `ruff ${command} . --isolated --no-cache --quiet --line-length 120`;
  // A list of values that may be null makes the generator repeat a condition (SIM101).
  const post_hooks = [`${ruff('check')} --fix --extend-select=I --ignore=SIM101`, ruff('format')];
  writeFileSync(config, JSON.stringify({ package_name_override: 'slipway_sdk', literal_enums: true, post_hooks }));
  const bin = path.join(tools, 'venv/bin');
  const { status, error, stdout, stderr } = spawnSync(
    path.join(bin, 'openapi-python-client'),
    [
      'generate',
      '--path',
      document,
      '--config',
      config,
      '--meta',
      'none',
      '--output-path',
      folder,
      '--fail-on-warning',
    ],
    {
      env: { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}` },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: SECONDS * 1_000,
    },
  );
  if (status === 0) return;
  console.error(`${stdout ?? ''}\n${stderr ?? ''}`.slice(-20_000));
  console.error(`openapi-python-client failed: ${error?.message ?? `exit status ${status}`}`);
  process.exit(1);
}

/** Returns the document in the form that this generator accepts. */
function documentForPython() {
  const document = JSON.parse(readFileSync(path.join(HERE, '../openapi.json'), 'utf8'));
  for (const operation of Object.values(document.paths).flatMap(Object.values)) {
    // All failures have one envelope, which is listed under `default`.
    for (const status of Object.keys(operation.responses)) if (/^[45]/.test(status)) delete operation.responses[status];
    // With this status, code would have to check every answer for a body. The client sends no If-None-Match, because it
    // keeps no answers.
    const others = operation.parameters?.filter(({ name }) => name !== 'If-None-Match');
    if (others && others.length < operation.parameters.length) delete operation.responses['304'];
    operation.parameters = others;
    // Its snake case of `APIs` would be `ap_is`.
    operation.tags = operation.tags.map((tag) => tag.replace('APIs', 'apis'));
    const bodies = Object.entries(operation.requestBody?.content ?? {});
    const schemas = bodies.map(([, { schema }]) => JSON.stringify(schema));
    // The generator would treat one body with two media types as two, and one without fields as a class of its own.
    bodies.forEach(([type], at) => {
      if (schemas.indexOf(schemas[at]) < at) delete operation.requestBody.content[type];
    });
    if (bodies.length === 1 && isEmpty(bodies[0][1].schema)) delete operation.requestBody;
  }
  const answered = separateAnswers(document);
  for (const { responses, ...asked } of Object.values(document.paths).flatMap(Object.values)) {
    visit(responses, true);
    visit(asked, false);
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) visit(schema, answered.has(name));
  return document;
}

function visit(node, isAnswer) {
  if (typeof node !== 'object' || node === null) return;
  const facts = [];
  if (Array.isArray(node.enum) && isAnswer) {
    // A later api may answer more values, which a list in Python would refuse.
    facts.push(
      `One of ${node.enum
        .filter((value) => value !== null)
        .map((value) => `\`${value}\``)
        .join(', ')}.`,
    );
    delete node.enum;
  }
  if (node.default !== undefined && isSchema(node)) {
    // The client would send the default, but the api must choose any value that is not given.
    facts.push(`\`${JSON.stringify(node.default)}\` unless given.`);
    delete node.default;
  }
  if (facts.length > 0) node.description = [...described(node), ...facts].join(' ');
  for (const child of Object.values(node)) visit(child, isAnswer);
}

function isEmpty({ $ref, properties }) {
  return $ref === undefined && properties === undefined;
}

/** Excludes lists of properties and answers, in which `default` is a name. */
function isSchema({ type, allOf, anyOf }) {
  return typeof type === 'string' || [type, allOf, anyOf].some(Array.isArray);
}

function described({ description }) {
  return description ? [description.endsWith('.') ? description : `${description}.`] : [];
}
