import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { operationsOf } from '@slipway/platform-http';
import { bootApi, type TestApi } from '../harness/boot-api.js';

let api: TestApi;
let document: any;

beforeAll(async () => {
  api = await bootApi();
  document = (await api.send('GET', '/openapi.json', { token: null })).body;
});

afterAll(async () => {
  await api?.close();
});

/** The specification fixes both paths; a sandbox id is never the word `references`. */
const GIVEN =
  'no-ambiguous-paths: Paths should resolve unambiguously. Found two ambiguous paths: `/api/v1/sandboxes/references/{id}` and `/api/v1/sandboxes/{id}/files`.';

it('passes the recommended rules of the linter without errors, and with only the warning that the specification causes', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'slipway-openapi-'));
  try {
    const file = path.join(folder, 'openapi.json');
    await writeFile(file, JSON.stringify(document, null, 1));
    const cli = path.join(
      path.dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')),
      'bin/cli.js',
    );
    const env = {
      PATH: process.env['PATH'],
      HOME: folder,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    };
    const run = promisify(execFile)(process.execPath, [cli, 'lint', file, '--format=json'], {
      cwd: folder,
      env,
      maxBuffer: 1e8,
    });
    const { stdout } = await run.catch((failure: { stdout: string }) => failure);
    const { totals, problems } = JSON.parse(stdout.slice(stdout.indexOf('{')));
    const found = problems.map(
      (problem: any) => `${problem.ruleId}: ${problem.message} ${problem.location[0]?.pointer}`,
    );
    expect(found.filter((problem: string) => !problem.startsWith(GIVEN))).toEqual([]);
    expect(totals).toMatchObject({ errors: 0 });
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('declares every area as a tag, and every body as an object that accepts unknown fields', () => {
  expect(document.tags).toHaveLength(45);
  const names = document.tags.map((tag: any) => tag.name);
  for (const { operation } of operationsOf(document)) {
    expect(names).toContain((operation['tags'] as string[])[0]);
    const schema = operation.requestBody?.content['application/json']?.schema as any;
    if (!schema) continue;
    const target = schema.$ref ? document.components.schemas[schema.$ref.split('/').pop()] : schema;
    expect(target).toMatchObject({ type: 'object', additionalProperties: true });
  }
});

it('publishes each path parameter as a string of at least one character', () => {
  for (const { path: route, operation } of operationsOf(document)) {
    const placeholders = [...route.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
    expect(parameters.map((parameter) => parameter.name).sort()).toEqual(placeholders.sort());
    for (const parameter of parameters)
      expect(parameter).toMatchObject({ required: true, schema: { type: 'string', minLength: 1 } });
  }
});

it('publishes the error envelope on every failure', () => {
  for (const { operation } of operationsOf(document)) {
    const statuses = Object.keys(operation.responses);
    expect(statuses).toEqual(expect.arrayContaining(['400', '401', '403', '500', '503']));
    for (const [status, response] of Object.entries(operation.responses)) {
      if (Number(status) < 400) continue;
      expect((response as any).content['application/json'].schema).toEqual({
        $ref: '#/components/schemas/ErrorEnvelopeDto',
      });
    }
  }
});
