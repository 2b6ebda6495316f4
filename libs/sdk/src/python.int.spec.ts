import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

jest.setTimeout(120_000);

const HERE = fileURLToPath(new URL('..', import.meta.url));

it('the Python client has the version of the product', async () => {
  const { version } = JSON.parse(await readFile(path.join(HERE, 'package.json'), 'utf8')) as { version: string };
  expect(await readFile(path.join(HERE, 'python/pyproject.toml'), 'utf8')).toContain(`\nversion = "${version}"\n`);
});

/** Needs the generator that `node libs/sdk/python/environment.mjs` creates; `.ci/nightly` sets the variable. */
(process.env['SLIPWAY_TEST_PYTHON'] ? describe : describe.skip)('the Python client', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'slipway-python-'));
    await cp(path.join(HERE, 'python'), path.join(dir, 'python'), { recursive: true });
    for (const file of ['openapi.json', 'answer-schemas.mjs']) await cp(path.join(HERE, file), path.join(dir, file));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  const generate = () =>
    promisify(execFile)(process.execPath, [path.join(dir, 'python/generate.mjs')], {
      env: { ...process.env, NODE_OPTIONS: '' },
    });
  const whoModules = async () =>
    (await readdir(path.join(dir, 'python/slipway_sdk/api/identity'))).filter((file) => file.startsWith('who'));

  it('has the operations of the document, and drops those that the document has dropped', async () => {
    await generate();
    expect(await whoModules()).toEqual(['who_am_i.py']);
    const file = path.join(dir, 'openapi.json');
    const document = await readFile(file, 'utf8');
    await writeFile(file, document.replace('"operationId": "whoAmI"', '"operationId": "whoElse"'));
    await generate();
    expect(await whoModules()).toEqual(['who_else.py']);
  });

  it('takes only the listed values in a request, and any text in an answer', async () => {
    const model = (name: string) => readFile(path.join(dir, 'python/slipway_sdk/models', `${name}.py`), 'utf8');
    expect(await model('strategy_input_dto')).toMatch(/^ {4}type_: StrategyInputDtoType$/m);
    expect(await model('strategy_input_dto_type')).toContain('Literal[');
    expect(await model('strategy_dto')).toMatch(/^ {4}type_: str$/m);
    expect(await model('operation_dto')).toMatch(/^ {4}status: str$/m);
  });

  it('is not generated from a document that the generator accepts only in part, and stays unchanged', async () => {
    const before = await whoModules();
    const file = path.join(dir, 'openapi.json');
    const document = await readFile(file, 'utf8');
    await writeFile(file, document.replaceAll('"#/components/schemas/OperationDto"', '"#/nowhere"'));
    await expect(generate()).rejects.toMatchObject({ code: 1 });
    expect(await whoModules()).toEqual(before);
  });
});
