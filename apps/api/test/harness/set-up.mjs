import postgres from '../../../../tools/test-runner/jest-global-setup.mjs';
import { serverBundles } from '../../../../tools/test-runner/bundles.mjs';

/** A database server, and the bundles that `Stack` starts. SLIPWAY_TEST_SHIPPED=1: it starts what is shipped instead. */
export default async function setUp() {
  if (process.env.SLIPWAY_TEST_SHIPPED !== '1') process.env.SLIPWAY_TEST_SERVERS = await serverBundles();
  await postgres();
}
