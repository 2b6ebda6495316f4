import { it } from '@jest/globals';
import { REQUIRE_VARIABLE, BIN_VARIABLE, findPrograms } from '@slipway/kube-testbed';
import { childEnvironment } from '@slipway/platform-config';
import { kubeProgram } from '../src/chart.js';

const environment = childEnvironment();
const folder = environment[BIN_VARIABLE];

/** Where helm is; empty where there is none. */
export const helm = kubeProgram('helm', folder) ?? '';
/** Where kubectl is, beside an API server; empty where there is none. */
export const kubectl = findPrograms(environment).bin === undefined ? '' : (kubeProgram('kubectl', folder) ?? '');

type Test = (name: string, run: () => void | Promise<void>) => void;

/** `it` where these programs are there. Elsewhere tests are skipped by name, or fail where SLIPWAY_REQUIRE_KUBE asks for them. */
export function itWith(...programs: string[]): Test {
  if (programs.every((program) => program !== '')) return (name, run) => it(name, run);
  if (environment[REQUIRE_VARIABLE] !== '1') return (name, run) => it.skip(name, run);
  return (name) =>
    it(name, () => {
      throw new Error(`${REQUIRE_VARIABLE} is 1, but the folder ${BIN_VARIABLE} lacks helm, kubectl or an API server`);
    });
}
