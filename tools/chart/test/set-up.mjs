import postgres from '../../test-runner/jest-global-setup.mjs';
import controlPlane from '../../kube-testbed/jest-global-setup.mjs';

/** Starts a database server, and a control plane if its programs are installed. */
export default async function setUp() {
  await postgres();
  await controlPlane();
}
