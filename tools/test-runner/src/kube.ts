import { ControlPlane, findPrograms, REQUIRE_VARIABLE } from '@slipway/kube-testbed';

export interface TestKubernetes {
  /** Folder of the control plane, for `SLIPWAY_TEST_KUBE`. Undefined if there is none; then `note` says why, in a sentence. */
  folder?: string;
  note: string;
  stop(): Promise<void>;
}

const nothing = async (): Promise<void> => undefined;

/** One Kubernetes control plane for the time of the run, where its programs are built. @throws Error where it must be, and is not */
export async function startKubernetes(env: NodeJS.ProcessEnv): Promise<TestKubernetes> {
  const found = findPrograms(env);
  if (found.bin === undefined) {
    if (env[REQUIRE_VARIABLE] === '1') throw new Error(`${REQUIRE_VARIABLE}=1, and ${found.why}`);
    return {
      note: `Kubernetes: none (${found.why}), so the tests on a control plane are skipped; tools/kube-testbed says how to build one.`,
      stop: nothing,
    };
  }
  const plane = await ControlPlane.start({ bin: found.bin });
  return {
    folder: plane.folder,
    note: `Kubernetes: a control plane of the run's own (${plane.access.server})`,
    stop: () => plane.stop(),
  };
}
