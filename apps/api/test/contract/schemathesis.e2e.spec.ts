import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Bed, clientOf, type ContractRequest } from '@slipway/platform-testing/contract';
import { productDatabase } from '../harness/product-database.js';
import { ROOT, Stack } from '../harness/stack.js';
import { ROWS } from './rows.js';

/**
 * A Python with Schemathesis, made by `node libs/sdk/python/environment.mjs tools/schemathesis/requirements.txt`;
 * `.ci/nightly` and `.ci/weekly` set it.
 */
const ENVIRONMENT = process.env['SLIPWAY_TEST_SCHEMATHESIS'];
const MINUTES = Number(process.env['SLIPWAY_SCHEMATHESIS_MINUTES'] ?? 3);
const SEED = process.env['SLIPWAY_SCHEMATHESIS_SEED'] ?? String(Date.now() % 2 ** 31);
/** Schemathesis ends the request that it sends when its time is over, and reduces failures. */
const REST_MINUTES = 5;
const TOOL = path.join(ROOT, 'tools/schemathesis');

jest.setTimeout((MINUTES + REST_MINUTES + 2) * 60_000);

/** The requests make more than the default quotas allow, and one token makes them all. */
const QUOTAS = ['deployments', 'revisions', 'instances', 'tokens', 'sandboxes', 'sandbox_files', 'webhooks'];

/** Of each operation. Some succeed only once, such as a deletion. */
const VALID_REQUESTS = 5;

(ENVIRONMENT ? describe : describe.skip)('Schemathesis', () => {
  const scratch = mkdtempSync(path.join(tmpdir(), 'slipway-schemathesis-'));
  const validRequests = path.join(scratch, 'valid-requests.json');
  let stack: Stack;

  beforeAll(async () => {
    const database = await productDatabase();
    // The rows of the contract write what a worker would have done, so the worker starts after them.
    stack = await Stack.start({
      database,
      gateway: true,
      workers: 0,
      config: () => `quotas: {${QUOTAS.map((quota) => `${quota}: 10000000`).join(', ')}}\n`,
    });
    const bed = new Bed(clientOf(() => stack.apiUrl(), database, stack.token));
    const all: Record<string, ContractRequest[]> = {};
    for (const [operationId, { valid }] of Object.entries(ROWS)) {
      const requests: ContractRequest[] = [];
      for (let count = 0; count < VALID_REQUESTS; count += 1) requests.push(await valid(bed));
      // Schemathesis has one token.
      all[operationId] = requests.filter(({ token }) => token === undefined);
    }
    writeFileSync(validRequests, JSON.stringify(all));
    stack.spawn('worker', 0);
  });
  afterAll(async () => {
    await stack?.stop();
    rmSync(scratch, { recursive: true });
  });

  it(`finds no failure in ${MINUTES} minutes (seed ${SEED})`, async () => {
    const { isPassed, output } = await schemathesis();
    expect(isPassed ? '' : output.slice(-60_000)).toBe('');
    // Without these, it would have tested little.
    const { selected, tested } = /Selected: (?<selected>\d+)\/\d+\s+Tested: (?<tested>\d+)/.exec(output)!.groups!;
    expect(Number(selected)).toBeGreaterThan(90);
    expect(tested).toBe(selected);
    expect((await stack.slipway().whoAmI()).scopes).toContain('admin');
    for (const phase of ['Examples', 'Coverage', 'Fuzzing', 'Stateful'])
      expect(output).toMatch(new RegExp(`✅ +${phase} `));
  });

  function schemathesis(): Promise<{ isPassed: boolean; output: string }> {
    const settings = ['--config-file', path.join(TOOL, 'schemathesis.toml')];
    const limits = ['--max-time', String(MINUTES * 60), '--seed', SEED, '--no-color'];
    const args = [...settings, 'run', `${stack.apiUrl()}/openapi.json`, ...limits];
    // Schemathesis finds `hooks.py` in its working folder.
    const env = {
      PATH: process.env['PATH'],
      LANG: 'C.UTF-8',
      PYTHONDONTWRITEBYTECODE: '1',
      SLIPWAY_TOKEN: stack.token,
      SLIPWAY_VALID_REQUESTS: validRequests,
      SLIPWAY_SEED: SEED,
    };
    const timeout = (MINUTES + REST_MINUTES) * 60_000;
    return new Promise((resolve) => {
      execFile(
        path.join(ENVIRONMENT!, 'venv/bin/st'),
        args,
        { cwd: TOOL, env, timeout, maxBuffer: 2 ** 28 },
        (error, stdout, stderr) => resolve({ isPassed: !error, output: `${stdout}\n${stderr}` }),
      );
    });
  }
});
