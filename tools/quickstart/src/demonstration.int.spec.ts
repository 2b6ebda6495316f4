import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DEMONSTRATION, externalPostgres, isAlive, LauncherBed } from '../test/launcher-bed.js';
import { readFlags } from './demonstration.js';

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

describe('the arguments of the quickstart', () => {
  const QUICKSTART = fileURLToPath(new URL('../dist/quickstart.js', import.meta.url));

  it.each([
    [['--with-plans'], '"--with-plans"'],
    [['--once', '--with-plan=yes', 'extra', '--with-plan'], '"--with-plan=yes", "extra"'],
    [[''], '""'],
    [['--\u001b[2J'], '"--\\u001b[2J"'],
  ])('%j: each unknown one is named, and nothing is started', (args, named) => {
    const { status, stderr, stdout } = spawnSync(process.execPath, [QUICKSTART, ...args], {
      cwd: bed.folder,
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect([status, stdout]).toEqual([78, '']);
    expect(stderr).toBe(
      `Slipway cannot start: The quickstart does not know ${named}. Its arguments are --once and --with-plan, such as: npm run quickstart -- --with-plan\n`,
    );
  });

  it('may be given in any order and twice', () => {
    expect([[], ['--once'], ['--with-plan', '--once', '--once']].map((args) => readFlags(args))).toEqual([
      { isOnce: false, isWithPlan: false },
      { isOnce: true, isWithPlan: false },
      { isOnce: true, isWithPlan: true },
    ]);
  });
});
