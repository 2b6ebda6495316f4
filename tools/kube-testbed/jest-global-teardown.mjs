export default async function tearDown() {
  const own = globalThis.slipwayTestKube;
  if (!own) return;
  await own.stop();
  delete process.env.SLIPWAY_TEST_KUBE;
  delete globalThis.slipwayTestKube;
}
