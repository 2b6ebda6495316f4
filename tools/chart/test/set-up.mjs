import postgres from '../../test-runner/jest-global-setup.mjs';
import controlPlane from '../../kube-testbed/jest-global-setup.mjs';

/** A database server, and a control plane where its programs are. */
export default async function setUp() {
  await postgres();
  await controlPlane();
}
