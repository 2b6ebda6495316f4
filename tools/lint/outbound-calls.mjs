/**
 * The files of the server that may open connections without the guard of @slipway/platform-egress, each with the reason
 * why no tenant decides where they lead.
 */
export const OUTBOUND = {
  'libs/platform/egress/src/guarded-dispatcher.ts': 'the guard itself',
  'libs/platform/egress/src/outbound-proxy.ts': "the operator's proxy, for a connection that the guard has checked",
  'libs/platform/database/src/embedded/embedded-postgres.ts': 'a free port of this machine',
  'libs/platform/database/src/reach.ts': "the operator's Postgres",
  'libs/gateway/src/upstream/instance.ts': 'engines that a target of this host started; all others get a guarded one',
  'libs/targets/process/src/observation/engine-health.ts': 'engines that this target started, on loopback',
  'libs/targets/kubernetes/src/api/transport.ts': "the operator's cluster",
  'libs/targets/kubernetes/src/driver/kubernetes-driver.ts': 'pods that this target started',
  'libs/targets/driver/src/twin.ts': 'a target for tests',
  'libs/areas/console/src/gateway/gateway-proxy.ts': "the operator's gateway",
  'libs/areas/console/src/hosted/provider-client.ts': "the operator's identity provider",
  'libs/areas/identity/src/hosted/provider-keys.ts': "the operator's identity provider",
  'libs/areas/instances/src/access/started-instances.ts':
    'it resolves names to compare them with engines, and connects to none',
  'libs/areas/audit/src/s3-anchor.ts': "the operator's bucket",
  'libs/areas/sandboxes/src/storage/s3-store.ts': "the operator's bucket",
};
