import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DEMONSTRATION, externalPostgres, isAlive, LauncherBed } from '../test/launcher-bed.js';

jest.setTimeout(120_000);

let bed: LauncherBed;
beforeEach(() => {
  bed = new LauncherBed();
});
afterEach(() => bed.remove());

describe('a demonstration that fails says what happened and where to read on, and leaves nothing running', () => {
  const failed = async (env: Record<string, string>): Promise<string> => {
    const launcher = bed.launch({ ...externalPostgres(), ...env }, DEMONSTRATION);
    expect(await launcher.exit).toBe(1);
    expect(launcher.stdout).not.toMatch(/\n\s+at /);
    expect(bed.pids().filter(isAlive)).toEqual([]);
    expect(launcher.stdout).toContain(
      `\nSee the output of the processes in ${path.join(bed.home, 'logs', 'slipway.log')}\n`,
    );
    return launcher.stdout;
  };

  it('an engine that the configuration does not have', async () => {
    expect(await failed({ STAND_IN_SPOILED: 'engine' })).toContain(
      'The quickstart failed: 422 validation_failed: The request is well-formed but breaks a rule.\n' +
        '  - spec.runtime.engine: target "local" has the engines: other\n  Correct the fields named in details.\n',
    );
  });

  it('an operation that fails', async () => {
    expect(await failed({ STAND_IN_SPOILED: 'operation' })).toContain(
      'The quickstart failed: rollout failed (instance_not_ready): the model server ended with 1\n',
    );
  });

  it('a gateway that dies at each request', async () => {
    expect(await failed({})).toMatch(/The quickstart failed: the gateway at http:\S+ does not respond \(.+\)\n/);
  });
});
