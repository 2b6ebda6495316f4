import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

jest.setTimeout(120_000);

const HERE = fileURLToPath(new URL('..', import.meta.url));

/** What makes the client, by `node libs/sdk/python/environment.mjs`; `.ci/nightly` sets it. */
(process.env['SLIPWAY_TEST_PYTHON'] ? describe : describe.skip)('the Python client', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'slipway-python-'));
    await cp(path.join(HERE, 'python'), path.join(dir, 'python'), { recursive: true });
    await cp(path.join(HERE, 'openapi.json'), path.join(dir, 'openapi.json'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  const check = async (): Promise<string> => {
    const script = [path.join(dir, 'python/generate.mjs'), '--check'];
    const made = promisify(execFile)(process.execPath, script, { env: { ...process.env, NODE_OPTIONS: '' } });
    return (await made.catch((failure: { stderr: string }) => failure)).stderr;
  };

  it('is what the document makes, and is told where it is not', async () => {
    expect(await check()).toBe('');
    const file = path.join(dir, 'openapi.json');
    const document = JSON.parse(await readFile(file, 'utf8')) as { paths: Record<string, any> };
    document.paths['/api/v1/whoami'].get.operationId = 'whoElse';
    await writeFile(file, JSON.stringify(document));
    const told = (await check()).match(/slipway_sdk\S+/g);
    expect(told).toEqual(['slipway_sdk/api/identity/who_am_i.py', 'slipway_sdk/api/identity/who_else.py']);
  });

  it('is as old as the product', async () => {
    const { version } = JSON.parse(await readFile(path.join(HERE, 'package.json'), 'utf8')) as { version: string };
    expect(await readFile(path.join(HERE, 'python/pyproject.toml'), 'utf8')).toContain(`\nversion = "${version}"\n`);
  });
});
