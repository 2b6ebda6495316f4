import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ROOT, Stack } from '../harness/stack.js';

jest.setTimeout(180_000);

/**
 * A Python with the wheels that the client needs, made by `node
 * libs/sdk/python/environment.mjs`; `.ci/nightly` sets it.
 */
const ENVIRONMENT = process.env['SLIPWAY_TEST_PYTHON'];
const SDK = path.join(ROOT, 'libs/sdk');

(ENVIRONMENT ? describe : describe.skip)('the Python client, against processes of the product', () => {
  let stack: Stack;
  let dir: string;
  let python: string;

  beforeAll(async () => {
    dir = mkdtempSync(path.join(tmpdir(), 'slipway-python-'));
    python = path.join(dir, 'bin/python');
    await run(path.join(ENVIRONMENT!, 'venv/bin/python'), '-m', 'venv', dir);
    const wheels = path.join(ENVIRONMENT!, 'wheels');
    const client = path.join(dir, 'sdk/python');
    cpSync(path.join(SDK, 'python'), client, { recursive: true });
    for (const file of ['openapi.json', 'answer-schemas.mjs'])
      cpSync(path.join(SDK, file), path.join(dir, 'sdk', file));
    await run(process.execPath, path.join(client, 'generate.mjs'));
    await run(python, '-m', 'pip', 'install', '--quiet', '--no-index', '--find-links', wheels, client);
    rmSync(client, { recursive: true });
    stack = await Stack.start();
  });
  afterAll(async () => {
    await stack?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  /** Runs outside the repository, so that only installed packages are found. */
  async function run(program: string, ...args: string[]): Promise<string> {
    const env = {
      PATH: process.env['PATH'],
      SLIPWAY_URL: stack?.apiUrl(),
      SLIPWAY_TOKEN: stack?.token,
      SLIPWAY_TEST_PYTHON: ENVIRONMENT,
    };
    return (await promisify(execFile)(program, args, { cwd: dir, env, timeout: 120_000 })).stdout;
  }

  it('does what its README shows', async () => {
    const readme = readFileSync(path.join(SDK, 'python/README.md'), 'utf8');
    const shown = [...readme.matchAll(/^```python\n(.*?)^```$/gms)].map(([, code]) => code);
    expect(shown).toHaveLength(4);
    writeFileSync(path.join(dir, 'shown.py'), shown.join('\n'));
    const told = await run(python, 'shown.py');
    expect(told).toContain("['snake']");
    expect(told).toContain('There is no nobody: ');
    expect(told).toContain('promote: succeeded');
    expect(told).toContain('The rollout has succeeded');
  });

  it('adopts by the key, sends optional fields only if they are given, and accepts unknown fields', async () => {
    const code = `
import os
from slipway_sdk import AuthenticatedClient
from slipway_sdk.api.deployments import update_deployment
from slipway_sdk.api.operations import cancel_operation
from slipway_sdk.api.revisions import create_rollback, create_rollout
from slipway_sdk.models import OperationDto, RolloutDto, UpdateDeploymentDto

client = AuthenticatedClient(base_url=os.environ["SLIPWAY_URL"], token=os.environ["SLIPWAY_TOKEN"])
spec = {"model": {"id": "llama"}, "runtime": {"target": "local", "engine": "sim"}}
rollout = RolloutDto.from_dict({"spec": spec, "strategy": {"type": "immediate"}})
answer = create_rollout.sync_detailed("snake", client=client, body=rollout, idempotency_key="first-of-snake")
print("adopted", answer.status_code, answer.parsed.created)
changed = RolloutDto.from_dict({"spec": {**spec, "model": {"id": "llama-two"}}, "strategy": {"type": "immediate"}})
print("rehearsed", create_rollout.sync("snake", client=client, body=changed, validate_only=True).would)
print("late", cancel_operation.sync(answer.parsed.operation.id, client=client).error.code)
print("alone", create_rollback.sync("snake", client=client).error.code)
stale = update_deployment.sync_detailed("snake", client=client, body=UpdateDeploymentDto(description="a"), if_match='"stale"')
print("stale", stale.status_code, stale.parsed.error.code)
known = answer.parsed.operation.to_dict()
later = OperationDto.from_dict({**known, "status": "hibernating", "dreams": 3})
print("later", later.status, later.additional_properties)
`;
    expect((await run(python, '-c', code)).trim().split('\n')).toEqual([
      'adopted 200 False',
      'rehearsed roll out snake-00002',
      'late operation_not_cancellable',
      'alone no_previous_revision',
      'stale 412 precondition_failed',
      "later hibernating {'dreams': 3}",
    ]);
  });
});
