import { spawnSync } from 'node:child_process';
import { it } from '@jest/globals';
import { REQUIRE_VARIABLE, BIN_VARIABLE, findPrograms } from '@slipway/kube-testbed';
import { childEnvironment } from '@slipway/platform-config';
import { kubeProgram } from '../src/chart.js';

const environment = childEnvironment();
const folder = environment[BIN_VARIABLE];

/** Path of helm; empty if there is none. */
export const helm = kubeProgram('helm', folder) ?? '';
/** Path of kubectl, next to an API server; empty if there is none. */
export const kubectl = findPrograms(environment).bin === undefined ? '' : (kubeProgram('kubectl', folder) ?? '');
/** Name of psql, which the image of Postgres contains; empty if this machine has none. */
export const psql = spawnSync('psql', ['--version']).status === 0 ? 'psql' : '';

type Test = (name: string, run: () => void | Promise<void>) => void;

/**
 * `it` if these programs are installed. Otherwise tests are skipped by name, or fail if SLIPWAY_REQUIRE_KUBE requires
 * them.
 */
export function itWith(...programs: string[]): Test {
  if (programs.every((program) => program !== '')) return (name, run) => it(name, run);
  if (environment[REQUIRE_VARIABLE] !== '1') return (name, run) => it.skip(name, run);
  return (name) =>
    it(name, () => {
      throw new Error(
        `${REQUIRE_VARIABLE} is 1, but the folder ${BIN_VARIABLE} lacks helm, kubectl or an API server, or psql is not installed`,
      );
    });
}
