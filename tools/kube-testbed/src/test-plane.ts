import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { childEnvironment } from '@slipway/platform-config/environment';
import { readAccess, type ClusterAccess } from './access.js';
import { ControlPlane } from './control-plane.js';
import { guard } from './guard.js';

/** Folder of the compiled programs, as `node tools/kube-testbed/build.mjs` prints it. */
export const BIN_VARIABLE = 'SLIPWAY_KUBE_BIN';
/** `1`: if the programs are missing, a test fails instead of being skipped. */
export const REQUIRE_VARIABLE = 'SLIPWAY_REQUIRE_KUBE';
/** Folder of a control plane that is already running, for all tests of a run. */
export const PLANE_VARIABLE = 'SLIPWAY_TEST_KUBE';

export type ProgramSearch = { bin: string } | { bin?: undefined; why: string };

const CONTROL_PLANE = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];

/**
 * Finds the folder of the programs, or the reason why there is none. `more` names further programs, such as `kubectl`.
 */
export function findPrograms(env: NodeJS.ProcessEnv = childEnvironment(), more: readonly string[] = []): ProgramSearch {
  const bin = env[BIN_VARIABLE];
  if (!bin) return { why: `${BIN_VARIABLE} is not set` };
  const missing = [...CONTROL_PLANE, ...more].find((program) => !existsSync(path.join(bin, program)));
  return missing === undefined ? { bin } : { why: `${BIN_VARIABLE} names ${bin}, which does not contain ${missing}` };
}

let own: Promise<ClusterAccess> | undefined;

/**
 * Returns the control plane of the test run or, if a project runs alone, one of this process, which ends with it.
 * @throws Error if the programs are missing
 */
export async function sharedAccess(): Promise<ClusterAccess> {
  const folder = childEnvironment()[PLANE_VARIABLE];
  if (folder) return readAccess(folder);
  own ??= ownAccess();
  return await own;
}

/**
 * Jest loads this file again for each test file. The process id identifies what an earlier test file of this process
 * has started.
 */
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

/** The folder of the programs. @throws Error with instructions if it is missing */
export function programs(): string {
  const found = findPrograms();
  if (found.bin === undefined)
    throw new Error(
      `no Kubernetes control plane: ${found.why}. Set it with ${BIN_VARIABLE}=$(node tools/kube-testbed/build.mjs)`,
    );
  return found.bin;
}
