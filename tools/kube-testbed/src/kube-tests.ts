import { it } from '@jest/globals';
import { childEnvironment } from '@slipway/platform-config/environment';
import { findPrograms, REQUIRE_VARIABLE } from './test-plane.js';

/**
 * Used by tests that need a control plane: `it` if there is one. Otherwise the test is skipped, or fails if the
 * programs are required.
 */
export type KubeIt = (name: string, run: () => unknown, timeoutMs?: number) => void;

/** For the tests of this function: the environment decides, and `jest` defines the functions that register a test. */
export function kubeItFor(
  env: NodeJS.ProcessEnv,
  jest: { run: KubeIt; skip: (name: string, run: () => unknown) => void },
  more: readonly string[] = [],
): KubeIt {
  const found = findPrograms(env, more);
  if (found.bin !== undefined) return jest.run;
  if (env[REQUIRE_VARIABLE] !== '1') return (name, run) => jest.skip(name, run);
  return (name) =>
    jest.run(name, () => {
      throw new Error(`${REQUIRE_VARIABLE}=1, but ${found.why}`);
    });
}

const JEST = {
  run: (name: string, run: () => unknown, timeoutMs?: number) => it(name, run as () => Promise<void>, timeoutMs),
  skip: (name: string, run: () => unknown) => it.skip(name, run as () => Promise<void>),
};

/** Whether tests that need a control plane run here. */
export const hasKube = findPrograms().bin !== undefined;

/** Used instead of `it` for a test on a control plane. Open the bed in a `beforeAll` that checks `hasKube`. */
export const kubeIt: KubeIt = kubeItFor(childEnvironment(), JEST);

/** For tests that need further programs in addition to those of a control plane. */
export const kubeItWith = (...more: string[]): KubeIt => kubeItFor(childEnvironment(), JEST, more);
