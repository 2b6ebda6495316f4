import postgres from '../../test-runner/jest-global-teardown.mjs';
import controlPlane from '../../kube-testbed/jest-global-teardown.mjs';

/** Stops both, even if the first one fails. */
export default async function tearDown() {
  await Promise.allSettled([controlPlane(), postgres()]);
}
