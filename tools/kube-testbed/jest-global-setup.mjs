import { existsSync } from 'node:fs';

const built = new URL('./dist/index.js', import.meta.url);

/**
 * Starts one control plane for all files of a project that runs alone, if its programs are installed. `npm test` has
 * one for all projects.
 */
export default async function setUp() {
  if (process.env.SLIPWAY_TEST_KUBE || !process.env.SLIPWAY_KUBE_BIN) return;
  if (!existsSync(built))
    throw new Error('tools/kube-testbed is not built. Run `npx nx build @slipway/kube-testbed` first.');
  const { ControlPlane, programs } = await import(built.href);
  const plane = await ControlPlane.start({ bin: programs() });
  process.env.SLIPWAY_TEST_KUBE = plane.folder;
  globalThis.slipwayTestKube = plane;
}
