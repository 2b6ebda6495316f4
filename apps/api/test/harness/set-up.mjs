import postgres from '../../../../tools/test-runner/jest-global-setup.mjs';
import { serverBundles } from '../../../../tools/test-runner/bundles.mjs';

/**
 * Starts a database server and makes the bundles that `Stack` starts. With SLIPWAY_TEST_SHIPPED=1,
 * `Stack` starts the shipped files instead.
 */
export default async function setUp() {
  if (process.env.SLIPWAY_TEST_SHIPPED !== '1') process.env.SLIPWAY_TEST_SERVERS = await serverBundles();
  await postgres();
}
