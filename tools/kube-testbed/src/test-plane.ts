import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { childEnvironment } from '@slipway/platform-config/environment';
import { readAccess, type ClusterAccess } from './access.js';
import { ControlPlane } from './control-plane.js';
import { guard } from './guard.js';

/** Folder of compiled programs: what `node tools/kube-testbed/build.mjs` prints. */
export const BIN_VARIABLE = 'SLIPWAY_KUBE_BIN';
/** `1`: where there are no programs, a test fails instead of being skipped. */
export const REQUIRE_VARIABLE = 'SLIPWAY_REQUIRE_KUBE';
/** Folder of a control plane that runs already, for all tests of a run. */
export const PLANE_VARIABLE = 'SLIPWAY_TEST_KUBE';

export type ProgramSearch = { bin: string } | { bin?: undefined; why: string };

const CONTROL_PLANE = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];

/** Where the programs are, or why there are none; `more` than a control plane, such as `kubectl`. */
export function findPrograms(env: NodeJS.ProcessEnv = childEnvironment(), more: readonly string[] = []): ProgramSearch {
  const bin = env[BIN_VARIABLE];
  if (!bin) return { why: `${BIN_VARIABLE} is not set` };
  const missing = [...CONTROL_PLANE, ...more].find((program) => !existsSync(path.join(bin, program)));
  return missing === undefined ? { bin } : { why: `${BIN_VARIABLE} names ${bin}, which does not contain ${missing}` };
}

let own: Promise<ClusterAccess> | undefined;

/**
 * The control plane of the test run, or, where a project runs alone, one of this process's own, which ends with it.
 * @throws Error where there are no programs
 */
export async function sharedAccess(): Promise<ClusterAccess> {
  const folder = childEnvironment()[PLANE_VARIABLE];
  if (folder) return readAccess(folder);
  own ??= ownAccess();
  return await own;
}

/** Jest loads this file anew for each test file: what an earlier one of this process started is found by the process's number. */
async function ownAccess(): Promise<ClusterAccess> {
  const pointer = path.join(os.tmpdir(), `slipway-test-kube-of-${process.pid}`);
  const isOurs = statSync(pointer, { throwIfNoEntry: false })?.uid === os.userInfo().uid;
  const folder = isOurs ? readFileSync(pointer, 'utf8') : '';
  if (folder && existsSync(folder)) return readAccess(folder);
  const plane = await ControlPlane.start({ bin: programs() });
  rmSync(pointer, { force: true });
  writeFileSync(pointer, plane.folder, { flag: 'wx', mode: 0o600 });
  guard.sweep(pointer);
  return plane.access;
}

/** The programs' folder. @throws Error saying what to do where there is none */
export function programs(): string {
  const found = findPrograms();
  if (found.bin === undefined)
    throw new Error(
      `no Kubernetes control plane: ${found.why}. Set it with ${BIN_VARIABLE}=$(node tools/kube-testbed/build.mjs)`,
    );
  return found.bin;
}
