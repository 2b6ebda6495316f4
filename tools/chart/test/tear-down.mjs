import postgres from '../../test-runner/jest-global-teardown.mjs';
import controlPlane from '../../kube-testbed/jest-global-teardown.mjs';

/** Of both, also where the first does not go well. */
export default async function tearDown() {
  await Promise.allSettled([controlPlane(), postgres()]);
}
